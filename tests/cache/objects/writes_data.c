static int counter = 3;
void galatea_kernel(int* call) { *call = ++counter; }
