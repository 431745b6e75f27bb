void* memcpy(void* to, const void* from, unsigned long size);
void galatea_kernel(const unsigned long* call) { memcpy((void*)call[0], (const void*)call[1], call[2]); }
