// What the sanitizer of leaks must not count: libsndfile forgets what libvorbis made for a damaged Ogg file, a few
// kilobytes a file; libheif forgets what dav1d made for a damaged AVIF file, 40 bytes a file.

// Called by the sanitizer before it reports; others never look for it.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libvorbis\nleak:libdav1d"; }
