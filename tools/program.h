// The command line as one function, which the program galatea calls.
#pragma once

/// The exit status of a command line. std::bad_alloc leaves it; nothing else does.
extern "C" __attribute__((visibility("default"))) int galatea_program(int argc, char** argv);
