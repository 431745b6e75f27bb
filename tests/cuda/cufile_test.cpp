// cuFile as a library: found or not, used or not, and our declarations against NVIDIA's header where there is one.
#include <gtest/gtest.h>

#include <cstddef>

#include "stdlib_ops/native/cufile/cufile.h"
#include "tests/cuda/fake_cuda_control.h"
#include "tests/cuda/same_shape.h"

#ifdef GALATEA_CUFILE_FOLDER
#include <cufile.h>
#endif

namespace galatea::testing {
namespace {

using native::Cufile;
namespace cufile = native::cufile;

TEST(CufileLibrary, IsFoundWithItsVersion) {
  const FakeCuda fake;
  for (const bool any_storage : {false, true}) {
    const auto found = Cufile::open(any_storage);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ((*found)->version_text(), "1.14");
    EXPECT_EQ((*found)->path(), fake_cuda_folder() + "/libcufile.so.0");
  }
}

TEST(CufileLibrary, OneThatReadsNoStorageDirectlyIsUsedOnRequest) {
  const FakeCuda fake(FakeSettings{{"FAKE_CUFILE_STORAGE", "0"}});
  const auto found = Cufile::open(false);
  ASSERT_FALSE(found);
  EXPECT_EQ(code_of(found.error()), "G0962");
  EXPECT_NE(found.error().message().find("nvidia-fs"), std::string::npos) << found.error().message();
  EXPECT_TRUE(Cufile::open(true));
}

TEST(CufileLibrary, OneWhoseDriverDoesNotOpenIsRefused) {
  const FakeCuda fake(FakeSettings{{"FAKE_CUFILE_DRIVER", "5001"}});
  const auto found = Cufile::open(true);
  ASSERT_FALSE(found);
  EXPECT_EQ(code_of(found.error()), "G0962");
  EXPECT_NE(found.error().message().find("cuFileDriverOpen failed with CU_FILE_DRIVER_NOT_INITIALIZED"),
            std::string::npos)
      << found.error().message();
}

TEST(CufileLibrary, AMissingOneSaysHowToGetIt) {
  const auto found = Cufile::open(true);
  if (found) GTEST_SKIP() << "this machine has " << (*found)->path();
  if (code_of(found.error()) == "G0962") GTEST_SKIP() << found.error().message();
  EXPECT_EQ(code_of(found.error()), "G0961");
  EXPECT_NE(found.error().message().find("the loader's folders"), std::string::npos);
  EXPECT_NE(found.error().diagnostics.front().help.find("nvidia-cufile"), std::string::npos);
}

TEST(CufileLibrary, UnknownFailuresHaveTheirNumber) {
  EXPECT_EQ(Cufile::name_of(5008), "CU_FILE_IO_NOT_SUPPORTED");
  EXPECT_EQ(Cufile::name_of(5555), "cuFile's error 5555");
}

#ifdef GALATEA_CUFILE_FOLDER

TEST(CufileHeader, EntryPointsAgree) {
#define CHECK_ENTRY(member, symbol, result, parameters) \
  static_assert(SameShape<decltype(&::symbol), decltype(cufile::Api{}.member)>::value);
  GALATEA_CUFILE_ENTRIES(CHECK_ENTRY)
#undef CHECK_ENTRY
  static_assert(sizeof(cufile::Answer) == sizeof(CUfileError_t));
  static_assert(offsetof(cufile::Answer, driver) == offsetof(CUfileError_t, cu_err));
  static_assert(sizeof(cufile::Descriptor) == sizeof(CUfileDescr_t));
  static_assert(offsetof(cufile::Descriptor, handle) == offsetof(CUfileDescr_t, handle));
  static_assert(offsetof(cufile::Descriptor, operations) == offsetof(CUfileDescr_t, fs_ops));
  static_assert(sizeof(cufile::Properties) >= sizeof(CUfileDrvProps_t));
  static_assert(offsetof(cufile::Properties, direct_storages) ==
                offsetof(CUfileDrvProps_t, nvfs) + offsetof(decltype(CUfileDrvProps_t::nvfs), dstatusflags));
  static_assert(cufile::error::kNotSupported == CU_FILE_IO_NOT_SUPPORTED);
  static_assert(cufile::error::kInvalidFileType == CU_FILE_INVALID_FILE_TYPE);
  static_assert(cufile::error::kInvalidOpenFlag == CU_FILE_INVALID_FILE_OPEN_FLAG);
  static_assert(cufile::error::kNotDirect == CU_FILE_DIO_NOT_SET);
  static_assert(cufile::error::kAlreadyOpen == CU_FILE_DRIVER_ALREADY_OPEN);
  static_assert(cufile::error::kDisabled == CU_FILE_IO_DISABLED);
  EXPECT_EQ(CU_FILE_HANDLE_TYPE_OPAQUE_FD, cufile::Descriptor{}.type);
}

#else

TEST(CufileHeader, EntryPointsAgree) { GTEST_SKIP() << "no cufile.h on this machine"; }

#endif

}  // namespace
}  // namespace galatea::testing
