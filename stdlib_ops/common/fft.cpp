// Fourier transforms: see fft.h.
#include "stdlib_ops/common/fft.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <numbers>

#include "runtime/constant_tensor.h"

namespace galatea::ops {
namespace {

using Complex = std::complex<double>;

/// Larger prime factors go through a convolution.
constexpr int64_t kLargestRadix = 13;

/// exp(-2 pi i numerator / denominator)
Complex root_of_unity(int64_t numerator, int64_t denominator) {
  const double turn = static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
  return std::polar(1.0, -2 * std::numbers::pi * turn);
}

/// 4, 4, …, 2, then odd primes. Of two factors of 2 one pass is cheaper than two.
std::vector<int64_t> radices_of(int64_t points) {
  std::vector<int64_t> radices;
  for (const int64_t radix : {4, 2})
    for (; points % radix == 0; points /= radix) radices.push_back(radix);
  for (int64_t radix = 3; points > 1; radix += 2)
    for (; points % radix == 0; points /= radix) radices.push_back(radix);
  return radices;
}

bool has_large_factor(int64_t points) {
  return std::ranges::any_of(radices_of(points), [](int64_t radix) { return radix > kLargestRadix; });
}

/// Complex numbers stand in planes: their axis, in front of the rows, has the real parts at 0 and the imaginary
/// ones at 1. A product with a constant is then the same expression for both: constant `same` times the element's
/// own plane, plus `other` times the other one.
class FourierTransform {
 public:
  FourierTransform(RecipeBuilder& b, std::string name, const RealSignals& signals)
      : b_(b), name_(std::move(name)), signals_(signals) {}

  StageRef power(bool magnitude) {
    const int64_t points = signals_.points;
    const bool packed = points % 2 == 0;
    const int64_t rows = packed ? points / 2 : points;
    StageRef in = packed ? packed_signal(rows) : real_signal();
    in = has_large_factor(rows) ? convolved(in, rows) : passes(in, rows);
    return b_.map(name_, DType::kF32, extents_of({i64(points / 2 + 1)}), [&](const Axes& at) {
      const Place place = place_of(at, 1);
      const auto [re, im] =
          packed ? unpacked(in, place, rows)
                 : std::pair{element(in, place, i64(0), place.row), element(in, place, i64(1), place.row)};
      const Expr square = kernel::fma(re, re, im * im);
      return magnitude ? kernel::unary(ScalarOp::kSqrt, square) : square;
    });
  }

 private:
  /// An element of a stage: its axes apart. `plane` is empty in stages of real numbers.
  struct Place {
    Axes before, behind;
    Expr plane, row;
  };
  Place place_of(const Axes& at, int own) const {
    const auto lead = static_cast<std::ptrdiff_t>(signals_.before.size());
    Place place;
    place.before.assign(at.begin(), at.begin() + lead);
    place.behind.assign(at.begin() + lead + own, at.end());
    if (own == 2) place.plane = at[signals_.before.size()];
    place.row = at[signals_.before.size() + static_cast<size_t>(own) - 1];
    return place;
  }
  Axes joined(const Axes& before, const Axes& own, const Axes& behind) const {
    Axes all = before;
    all.insert(all.end(), own.begin(), own.end());
    all.insert(all.end(), behind.begin(), behind.end());
    return all;
  }
  Axes extents_of(const Axes& own) const { return joined(signals_.before, own, signals_.behind); }

  Expr element(StageRef stage, const Place& place, const Expr& plane, const Expr& row) const {
    return b_.load(stage, joined(place.before, {plane, row}, place.behind));
  }
  StageRef complex_stage(const std::string& what, int64_t rows,
                         const std::function<Expr(const Place&)>& body) {
    return b_.map(name_ + what, DType::kF32, extents_of({i64(2), i64(rows)}),
                  [&](const Axes& at) { return body(place_of(at, 2)); });
  }

  StageRef real_signal() {
    return complex_stage("_signal", signals_.points, [&](const Place& at) {
      return select(equal(at.plane, i64(0)), signals_.element(at.before, at.row, at.behind), f32(0));
    });
  }
  /// Two neighbours as one complex number: a transform of half as many points does.
  StageRef packed_signal(int64_t rows) {
    return complex_stage("_signal", rows, [&](const Place& at) {
      return signals_.element(at.before, at.row * i64(2) + at.plane, at.behind);
    });
  }

  /// Constants by plane, then own or other plane, then number.
  int constants(const std::string& what, const std::vector<Complex>& values) {
    std::vector<Cell> cells;
    for (const bool imaginary : {false, true})
      for (const bool other : {false, true})
        for (const Complex& value : values)
          cells.push_back(cell_from_double(DType::kF32, !other      ? value.real()
                                                        : imaginary ? value.imag()
                                                                    : -value.imag()));
    return b_.constant_input(
        name_ + what,
        std::make_shared<runtime::ConstantTensor>(
            DType::kF32, std::vector{int64_t{2}, int64_t{2}, static_cast<int64_t>(values.size())}, cells));
  }
  /// sum + in[row] times constant `number`; an empty sum is 0.
  Expr add_product(const Expr& sum, int constants, const Expr& number, StageRef in, const Place& at,
                   const Expr& row) const {
    const Expr same = b_.load(constants, {at.plane, i64(0), number}), own = element(in, at, at.plane, row);
    const Expr other = b_.load(constants, {at.plane, i64(1), number});
    return kernel::fma(other, element(in, at, i64(1) - at.plane, row),
                       sum ? kernel::fma(same, own, sum) : same * own);
  }

  /// Before a pass, row m * done + k holds point k of the transform of every (rows / done)-th element from m on.
  StageRef passes(StageRef in, int64_t rows) {
    int64_t done = 1;
    for (const int64_t radix : radices_of(rows)) {
      in = pass(in, rows, done, radix);
      done *= radix;
    }
    return in;
  }

  StageRef pass(StageRef in, int64_t rows, int64_t done, int64_t radix) {
    const int64_t next = done * radix;
    std::vector<Complex> roots;
    for (int64_t q = 1; q < radix; ++q)
      for (int64_t k = 0; k < next; ++k) roots.push_back(root_of_unity(q * k, next));
    const std::string what = fmt::format("_{}", next);
    const int twiddles = constants(what, roots);
    return complex_stage(what, rows, [&](const Place& at) {
      const Expr k = at.row % i64(next), group = at.row / i64(next);
      const Expr first = done == 1 ? group : group * i64(done) + at.row % i64(done);
      Expr sum = element(in, at, at.plane, first);
      for (int64_t q = 1; q < radix; ++q)
        sum = add_product(sum, twiddles, k + i64((q - 1) * next), in, at, first + i64(q * (rows / radix)));
      return sum;
    });
  }

  /// k n = (k^2 + n^2 - (k - n)^2) / 2: between products with chirps the transform is a convolution, and that is a
  /// product of transforms whose number of points we choose. An inverse transform is one between conjugates.
  StageRef convolved(StageRef in, int64_t rows) {
    const auto wide = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * rows - 1)));
    std::vector<Complex> chirp(static_cast<size_t>(rows)), padded(static_cast<size_t>(wide)),
        response(static_cast<size_t>(wide));
    for (int64_t n = 0; n < rows; ++n) {
      const auto i = static_cast<size_t>(n);
      chirp[i] = root_of_unity(n * n, 2 * rows);
      padded[i] = chirp[i];
      response[i] = response[static_cast<size_t>((wide - n) % wide)] = std::conj(chirp[i]);
    }
    in = passes(scaled(in, "_chirp", rows, padded, false), wide);
    std::vector<Complex> spectrum = transform_of(response);
    in = passes(scaled(in, "_product", wide, spectrum, true), wide);
    for (Complex& value : chirp) value = std::conj(value) / static_cast<double>(wide);
    return scaled(in, "_unchirp", wide, chirp, true);
  }
  /// As many rows as there are factors: `in` times them, conjugate where asked. Past the end of `in` they are 0.
  StageRef scaled(StageRef in, const std::string& what, int64_t rows_in, const std::vector<Complex>& factors,
                  bool conjugate) {
    const int table = constants(what, factors);
    const auto rows = static_cast<int64_t>(factors.size());
    return complex_stage(what, rows, [&](const Place& at) {
      const Expr product =
          add_product({}, table, at.row, in, at, rows > rows_in ? min(at.row, i64(rows_in - 1)) : at.row);
      return conjugate ? select(equal(at.plane, i64(0)), product, -product) : product;
    });
  }
  /// Of a power of two points.
  static std::vector<Complex> transform_of(const std::vector<Complex>& in) {
    const size_t n = in.size();
    if (n == 1) return in;
    std::vector<Complex> even, odd, out(n);
    for (size_t i = 0; i < n; i += 2) even.push_back(in[i]), odd.push_back(in[i + 1]);
    even = transform_of(even), odd = transform_of(odd);
    for (size_t k = 0; k < n / 2; ++k) {
      const Complex turned = root_of_unity(static_cast<int64_t>(k), static_cast<int64_t>(n)) * odd[k];
      out[k] = even[k] + turned, out[k + n / 2] = even[k] - turned;
    }
    return out;
  }

  /// X[k] of the real signal from Z, the transform of its packed form, with m = rows - k:
  /// 2 X[k] = Z[k] + conj Z[m] - i w^k (Z[k] - conj Z[m]).
  std::pair<Expr, Expr> unpacked(StageRef z, const Place& at, int64_t rows) {
    if (unpack_ < 0) {
      std::vector<Complex> turns;
      for (int64_t k = 0; k <= rows; ++k) turns.push_back(0.5 * root_of_unity(k, 2 * rows));
      unpack_ = constants("_unpack", turns);
    }
    const Expr k = at.row % i64(rows), m = (i64(rows) - at.row) % i64(rows);
    const Expr re_k = element(z, at, i64(0), k), im_k = element(z, at, i64(1), k);
    const Expr re_m = element(z, at, i64(0), m), im_m = element(z, at, i64(1), m);
    const Expr c = b_.load(unpack_, {i64(0), i64(0), at.row}), s = b_.load(unpack_, {i64(1), i64(1), at.row});
    const Expr odd_re = im_k + im_m, odd_im = re_m - re_k;
    const Expr re = kernel::fma(c, odd_re, kernel::fma(-s, odd_im, (re_k + re_m) * f32(0.5)));
    const Expr im = kernel::fma(c, odd_im, kernel::fma(s, odd_re, (im_k - im_m) * f32(0.5)));
    return {re, im};
  }

  RecipeBuilder& b_;
  std::string name_;
  const RealSignals& signals_;
  int unpack_ = -1;
};

}  // namespace

StageRef power_spectrum_stage(RecipeBuilder& b, const std::string& name, const RealSignals& signals,
                              bool magnitude) {
  return FourierTransform(b, name, signals).power(magnitude);
}

}  // namespace galatea::ops
