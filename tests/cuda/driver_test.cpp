// Finding the driver and its devices, and what is said where something is missing.
#include "runtime/cuda/driver.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tests/cuda/fake_cuda_control.h"
#include "tests/support/build_folder.h"

namespace galatea::testing {
namespace {

using runtime::cuda::Driver;

TEST(Driver, ListsDevices) {
  FakeCuda fake(
      {{"FAKE_CUDA_DEVICES", "2"}, {"FAKE_CUDA_ARCHITECTURE", "86"}, {"FAKE_CUDA_MEMORY", "1073741824"}});
  auto driver = Driver::open();
  ASSERT_TRUE(driver) << driver.error().message();
  EXPECT_EQ((*driver)->version_text(), "12.8");
  EXPECT_EQ((*driver)->path(), fake_cuda_folder() + "/libcuda.so.1");
  ASSERT_EQ((*driver)->devices().size(), 2U);
  const runtime::cuda::Device& second = (*driver)->devices()[1];
  EXPECT_EQ(second.describe(), "GPU 1 (Fake GPU B)");
  EXPECT_EQ(second.architecture, 86);
  EXPECT_EQ(second.memory_bytes, 1073741824);
  EXPECT_EQ(second.num_processors, 4);
}

TEST(Driver, DeviceThatIsNotThere) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_DEVICES", "2"}});
  auto driver = Driver::open();
  ASSERT_TRUE(driver) << driver.error().message();
  auto device = (*driver)->device(2);
  ASSERT_FALSE(device);
  EXPECT_EQ(code_of(device.error()), "G0954");
  EXPECT_EQ(device.error().message(),
            "there is no GPU 2: 2 can be used here, numbered from 0: GPU 0 (Fake GPU A), GPU 1 (Fake GPU B)");
  EXPECT_EQ(device.error().kind, ErrorKind::kSystem);
}

TEST(Driver, NoDevice) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_DEVICES", "0"}});
  auto driver = Driver::open();
  ASSERT_TRUE(driver) << driver.error().message();
  auto device = (*driver)->device(9);
  ASSERT_FALSE(device);
  EXPECT_EQ(code_of(device.error()), "G0953");
  EXPECT_EQ(device.error().message(),
            "there is no GPU 9: the CUDA driver " + (*driver)->path() + " has no device (it finds none)");
}

TEST(Driver, KernelModuleOfAnotherVersion) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_INIT", "803"}});
  auto driver = Driver::open();
  ASSERT_FALSE(driver);
  EXPECT_EQ(code_of(driver.error()), "G0952");
  EXPECT_NE(driver.error().message().find("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"), std::string::npos)
      << driver.error().message();
}

TEST(Driver, SystemThatRefusesTheDriver) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_INIT", "304"}});
  auto driver = Driver::open();
  ASSERT_FALSE(driver);
  EXPECT_EQ(code_of(driver.error()), "G0952");
}

TEST(Driver, TooOld) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_DRIVER_VERSION", "11010"}});
  auto driver = Driver::open();
  ASSERT_FALSE(driver);
  EXPECT_EQ(code_of(driver.error()), "G0951");
  EXPECT_NE(driver.error().message().find("CUDA 11.1"), std::string::npos) << driver.error().message();
}

TEST(Driver, LibraryWithoutWhatIsNeeded) {
  FakeCuda fake;
  setenv("GALATEA_CUDA_LIBRARY_PATH", build_folder("/old_cuda").c_str(), 1);
  auto old = Driver::open();
  ASSERT_FALSE(old);
  EXPECT_EQ(code_of(old.error()), "G0951");
  EXPECT_NE(old.error().message().find("CUDA 10.2"), std::string::npos) << old.error().message();
  // A number that would do, of a library that has not what it promises.
  setenv("FAKE_CUDA_OLD_VERSION", "12080", 1);
  auto odd = Driver::open();
  unsetenv("FAKE_CUDA_OLD_VERSION");
  ASSERT_FALSE(odd);
  EXPECT_EQ(code_of(odd.error()), "G0951");
  EXPECT_NE(odd.error().message().find("it has no cuInit"), std::string::npos) << odd.error().message();
}

TEST(Driver, MissingLibraryIsNamed) {
  if (void* real = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) {
    dlclose(real);
    GTEST_SKIP() << "this machine has a CUDA driver";
  }
  setenv("GALATEA_CUDA_LIBRARY_PATH", "/no/such/folder", 1);
  auto driver = Driver::open();
  unsetenv("GALATEA_CUDA_LIBRARY_PATH");
  ASSERT_FALSE(driver);
  EXPECT_EQ(code_of(driver.error()), "G0950");
  EXPECT_NE(driver.error().message().find("/no/such/folder, the loader's folders"), std::string::npos)
      << driver.error().message();
  EXPECT_EQ(driver.error().kind, ErrorKind::kSystem);
}

}  // namespace
}  // namespace galatea::testing
