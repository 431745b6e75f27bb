#include "tools/pipeline_host.h"
