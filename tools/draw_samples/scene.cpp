#include "tools/draw_samples/scene.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace galatea::samples {
namespace {

struct Color {
  float r, g, b;
};
Color operator*(Color c, float f) { return {c.r * f, c.g * f, c.b * f}; }
Color operator+(Color a, Color b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
Color mix(Color a, Color b, float t) { return a * (1 - t) + b * t; }
float clamp01(float x) { return std::clamp(x, 0.0f, 1.0f); }
float smooth(float from, float to, float x) {
  float t = clamp01((x - from) / (to - from));
  return t * t * (3 - 2 * t);
}

uint32_t hash(uint32_t x, uint32_t y, uint32_t seed) {
  uint32_t h = seed * 0x9E3779B9u + x * 0x85EBCA6Bu + y * 0xC2B2AE35u;
  h ^= h >> 15, h *= 0x2C1B3C6Du, h ^= h >> 12, h *= 0x297A2D39u;
  return h ^ (h >> 15);
}
float random01(int x, int y, uint32_t seed) {
  return static_cast<float>(hash(static_cast<uint32_t>(x), static_cast<uint32_t>(y), seed) >> 8) /
         16777216.0f;
}

/// Values at whole coordinates, blended between.
float noise(float x, float y, uint32_t seed) {
  float fx = std::floor(x), fy = std::floor(y);
  int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
  float u = smooth(0, 1, x - fx), v = smooth(0, 1, y - fy);
  float top = random01(ix, iy, seed) * (1 - u) + random01(ix + 1, iy, seed) * u;
  float bottom = random01(ix, iy + 1, seed) * (1 - u) + random01(ix + 1, iy + 1, seed) * u;
  return top * (1 - v) + bottom * v;
}

/// Octaves of noise, each twice as fine and half as strong; about 0..1.
float octaves(float x, float y, int count, uint32_t seed) {
  float sum = 0, weight = 0.5f;
  for (int i = 0; i < count; ++i, weight *= 0.5f, x *= 2.03f, y *= 2.03f)
    sum += weight * noise(x, y, seed + 101u * static_cast<uint32_t>(i));
  return sum;
}

/// The colour at (x, y): y in 0..1 downwards, x in the same unit.
class Scene {
 public:
  explicit Scene(float aspect, uint32_t seed) : aspect_(aspect), seed_(seed) {}
  virtual ~Scene() = default;
  virtual Color at(float x, float y) const = 0;

 protected:
  float pick(int n, float from, float to) const { return from + (to - from) * random01(n, 77, seed_); }
  Color sky(float x, float y, Color zenith, Color horizon) const {
    Color base = mix(zenith, horizon, smooth(0.0f, 0.6f, y));
    float cloud = smooth(0.42f, 0.68f, octaves(x * 2.2f, y * 5.0f, 5, seed_ + 1));
    return mix(base, {0.97f, 0.96f, 0.95f}, 0.85f * cloud * (1 - smooth(0.35f, 0.65f, y)));
  }
  float aspect_;
  uint32_t seed_;
};

/// A meadow with flowers, a fence and trees before hills.
class Fields : public Scene {
 public:
  using Scene::Scene;
  Color at(float x, float y) const override {
    float far_hill = 0.42f - 0.16f * octaves(x * 1.4f + 9, 0.5f, 3, seed_ + 2);
    float horizon = 0.52f - 0.10f * octaves(x * 0.9f, 2.5f, 2, seed_ + 3);
    Color color = sky(x, y, {0.20f, 0.42f, 0.80f}, {0.80f, 0.86f, 0.90f});
    float sun_x = aspect_ * pick(1, 0.15f, 0.85f), sun_y = pick(2, 0.08f, 0.2f);
    float sun = std::sqrt((x - sun_x) * (x - sun_x) + (y - sun_y) * (y - sun_y));
    color = mix(color, {1.0f, 0.98f, 0.85f},
                0.6f * (1 - smooth(0.03f, 0.30f, sun)) + 0.4f * (1 - smooth(0.035f, 0.042f, sun)));
    if (y > far_hill)
      color = mix({0.36f, 0.46f, 0.55f}, {0.52f, 0.60f, 0.62f}, octaves(x * 9, y * 16, 4, seed_ + 4));
    if (y > horizon) color = ground(x, y, horizon);
    return trees(color, x, y);
  }

 private:
  Color ground(float x, float y, float horizon) const {
    // Finer towards the horizon, as in perspective.
    float depth = 1.0f / (y - horizon + 0.06f);
    float grass = octaves((x - aspect_ / 2) * depth * 3.0f, depth * 14.0f, 5, seed_ + 5);
    float blades = noise(x * 160, y * 46, seed_ + 6);
    Color color =
        mix({0.16f, 0.30f, 0.08f}, {0.62f, 0.66f, 0.22f}, clamp01(0.75f * grass + 0.45f * blades - 0.1f));
    int cell_x = static_cast<int>(std::floor(x * 28)), cell_y = static_cast<int>(std::floor(y * 28));
    if (y > 0.68f && random01(cell_x, cell_y, seed_ + 7) > 0.80f) {
      float dx = x * 28 - static_cast<float>(cell_x) - 0.5f, dy = y * 28 - static_cast<float>(cell_y) - 0.5f;
      Color petals = random01(cell_y, cell_x, seed_ + 8) > 0.5f ? Color{0.85f, 0.15f, 0.20f}
                                                                : Color{0.95f, 0.90f, 0.95f};
      float distance = std::sqrt(dx * dx + dy * dy);
      color = mix(color, petals, 1 - smooth(0.16f, 0.26f, distance));
      color = mix(color, {0.95f, 0.80f, 0.15f}, 1 - smooth(0.06f, 0.10f, distance));
    }
    float post = std::abs(x * 5 - std::floor(x * 5) - 0.5f);
    bool rail = (y > 0.60f && y < 0.612f) || (y > 0.65f && y < 0.662f);
    if ((post < 0.035f && y > 0.575f && y < 0.71f) || rail)
      color = Color{0.42f, 0.33f, 0.24f} * (0.7f + 0.5f * noise(x * 60, y * 400, seed_ + 9));
    return color;
  }
  Color trees(Color color, float x, float y) const {
    for (int i = 0; i < 3; ++i) {
      float center = aspect_ * pick(10 + i, 0.05f, 0.95f), size = pick(20 + i, 0.08f, 0.15f),
            foot = pick(30 + i, 0.50f, 0.56f);
      float dx = (x - center) / size, dy = (y - (foot - 1.5f * size)) / (1.2f * size);
      if (std::abs(x - center) < 0.10f * size && y > foot - size && y < foot) color = {0.25f, 0.18f, 0.12f};
      if (std::abs(dx) > 1.4f || std::abs(dy) > 1.4f) continue;
      float leaves = octaves(x * 30, y * 30, 4, seed_ + 40 + static_cast<uint32_t>(i));
      float inside = 1 - smooth(0.75f, 0.82f, std::sqrt(dx * dx + dy * dy) - 0.35f * (leaves - 0.5f));
      color =
          mix(color,
              mix({0.04f, 0.12f, 0.04f}, {0.30f, 0.48f, 0.14f}, clamp01(leaves * 1.3f - 0.25f * (dx + dy))),
              inside);
    }
    return color;
  }
};

/// Houses with windows along a street.
class Buildings : public Scene {
 public:
  using Scene::Scene;
  Color at(float x, float y) const override {
    Color color = sky(x, y, {0.16f, 0.22f, 0.45f}, {0.95f, 0.72f, 0.52f});
    for (int row = 0; row < 2; ++row) {
      float width = row == 0 ? 0.16f : 0.31f;
      int house = static_cast<int>(std::floor(x / width + 0.37f * static_cast<float>(row)));
      float within = x / width + 0.37f * static_cast<float>(row) - static_cast<float>(house);
      float roof = row == 0 ? 0.12f + 0.25f * random01(house, 1, seed_ + 10)
                            : 0.32f + 0.22f * random01(house, 2, seed_ + 11);
      if (y > roof && y < 0.80f) color = facade(within, y - roof, x, y, house, row);
    }
    if (y >= 0.80f) color = street(x, y);
    return color;
  }

 private:
  Color facade(float within, float below_roof, float x, float y, int house, int row) const {
    uint32_t own = seed_ + 50u * static_cast<uint32_t>(row + 1);
    Color wall = {0.35f + 0.4f * random01(house, 3, own), 0.30f + 0.3f * random01(house, 4, own),
                  0.28f + 0.3f * random01(house, 5, own)};
    // Courses of bricks, every second one shifted, with light mortar.
    float course = y * 90, brick = x * 40 + (static_cast<int>(course) % 2 == 0 ? 0.5f : 0.0f);
    bool mortar = course - std::floor(course) < 0.14f || brick - std::floor(brick) < 0.06f;
    wall = wall * (mortar ? 1.18f
                          : 0.86f + 0.22f * random01(static_cast<int>(brick), static_cast<int>(course), own));
    wall = wall * (row == 0 ? 0.75f : 1.0f) * (0.85f + 0.3f * octaves(x * 7, y * 7, 3, own));
    if (below_roof < 0.02f || within < 0.012f) return wall * 0.45f;
    int across = row == 0 ? 4 : 5;
    float wx = within * static_cast<float>(across), wy = below_roof * 14;
    int ix = static_cast<int>(wx), iy = static_cast<int>(wy);
    float fx = wx - static_cast<float>(ix), fy = wy - static_cast<float>(iy);
    if (fx < 0.25f || fx > 0.75f || fy < 0.25f || fy > 0.80f) return wall;
    if (std::abs(fx - 0.5f) < 0.03f || std::abs(fy - 0.5f) < 0.04f || fx < 0.29f || fx > 0.71f)
      return {0.88f, 0.86f, 0.82f};
    bool lit = random01(house * 31 + ix, iy, own + 6) > 0.62f;
    return lit ? mix({0.98f, 0.85f, 0.45f}, {0.80f, 0.50f, 0.18f}, fy)
               : mix({0.10f, 0.14f, 0.22f}, {0.45f, 0.55f, 0.68f}, clamp01(fx + fy - 0.6f));
  }
  Color street(float x, float y) const {
    float depth = 1.0f / (y - 0.74f);
    float grain = octaves(x * depth * 6, depth * 40, 4, seed_ + 20);
    Color color = Color{0.30f, 0.30f, 0.32f} * (0.6f + 0.8f * grain);
    if (y < 0.835f) color = Color{0.60f, 0.58f, 0.55f} * (0.8f + 0.4f * grain);
    float lane = (x - aspect_ / 2) * depth * 0.12f;
    if (y > 0.88f && std::abs(lane + 0.08f) < 0.02f && static_cast<int>(depth * 1.8f) % 2 == 0)
      color = {0.92f, 0.92f, 0.86f};
    return color;
  }
};

/// Shaded balls and a chequered cloth on a wooden table.
class Objects : public Scene {
 public:
  using Scene::Scene;
  Color at(float x, float y) const override {
    float edge = 0.48f;
    Color color;
    if (y < edge) {
      float stripe = 0.5f + 0.5f * std::cos(x * 62.0f);
      color = mix({0.55f, 0.42f, 0.40f}, {0.72f, 0.66f, 0.58f},
                  0.4f * stripe + 0.6f * octaves(x * 3, y * 3, 4, seed_ + 1));
      color = color * (0.65f + 0.45f * x / aspect_);
    } else {
      color = table(x, y);
      for (int i = 0; i < kBalls; ++i) {  // shadows first: they lie on the table
        Ball ball = make(i);
        float dx = (x - ball.x - 0.35f * ball.radius) / (1.25f * ball.radius),
              dy = (y - ball.y - 0.80f * ball.radius) / (0.38f * ball.radius);
        color = color * (1 - 0.6f * (1 - smooth(0.3f, 1.05f, dx * dx + dy * dy)));
      }
    }
    for (int i = 0; i < kBalls; ++i) color = shade(make(i), color, x, y, i);
    return color;
  }

 private:
  static constexpr int kBalls = 5;
  struct Ball {
    float x, y, radius;
    Color color;
  };
  Ball make(int i) const {
    float slot = (static_cast<float>(i) + pick(i, 0.25f, 0.75f)) / kBalls;
    float y = 0.50f + 0.08f * static_cast<float>(i % 3) + pick(10 + i, 0.0f, 0.06f);
    return {aspect_ * slot,
            y,
            pick(20 + i, 0.09f, 0.17f),
            {pick(30 + i, 0.15f, 0.95f), pick(40 + i, 0.15f, 0.85f), pick(50 + i, 0.1f, 0.8f)}};
  }
  Color table(float x, float y) const {
    float bend = octaves(x * 1.3f, y * 6, 3, seed_ + 2);
    float rings = y * 26 + bend * 9;
    rings -= std::floor(rings);
    float fibre = noise(x * 14, y * 240, seed_ + 3);
    Color color = mix({0.36f, 0.20f, 0.10f}, {0.70f, 0.48f, 0.28f}, clamp01(0.55f * rings + 0.5f * fibre));
    float u = (x - 0.25f * aspect_) * 1.2f + (y - 0.8f) * 0.5f,
          v = (y - 0.8f) * 1.9f - (x - 0.25f * aspect_) * 0.3f;
    if (std::abs(u) < 0.33f && std::abs(v) < 0.27f) {
      bool dark = (static_cast<int>(std::floor(u * 18)) + static_cast<int>(std::floor(v * 18))) % 2 != 0;
      float weave = 0.82f + 0.18f * noise(u * 220, v * 220, seed_ + 4);
      color = (dark ? Color{0.15f, 0.24f, 0.50f} : Color{0.92f, 0.92f, 0.90f}) * weave;
    }
    return color;
  }
  Color shade(const Ball& ball, Color behind, float x, float y, int i) const {
    float dx = (x - ball.x) / ball.radius, dy = (y - ball.y) / ball.radius, square = dx * dx + dy * dy;
    if (square > 1) return behind;
    float dz = std::sqrt(1 - square);
    float light = clamp01(-0.45f * dx - 0.60f * dy + 0.66f * dz);
    float pattern = octaves(dx * 5 + 20, dy * 5, 5, seed_ + 60 + static_cast<uint32_t>(i));
    if (i % 2 == 1) pattern = std::floor((dx * 0.5f + std::abs(dy) + pattern * 0.5f) * 7) / 7;
    Color body = ball.color * (0.16f + 0.95f * light) * (0.6f + 0.7f * pattern);
    float gleam = light * light;
    gleam *= gleam, gleam *= gleam;
    gleam *= gleam;
    return body + Color{0.7f, 0.7f, 0.68f} * (gleam * gleam);
  }
};

std::unique_ptr<Scene> make_scene(SceneKind kind, float aspect, uint32_t seed) {
  switch (kind) {
    case SceneKind::kBuildings:
      return std::make_unique<Buildings>(aspect, seed);
    case SceneKind::kFields:
      return std::make_unique<Fields>(aspect, seed);
    case SceneKind::kObjects:
      return std::make_unique<Objects>(aspect, seed);
  }
  return nullptr;
}

}  // namespace

Picture draw_scene(SceneKind kind, int width, int height, uint32_t seed) {
  Picture picture = make_picture(width, height, 3);
  // A tall picture shows a narrower part, not a squeezed one.
  const float scale = 1.0f / static_cast<float>(height), aspect = static_cast<float>(width) * scale;
  auto scene = make_scene(kind, aspect, seed * 1009 + 17);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sx = (static_cast<float>(x) + 0.5f) * scale, sy = (static_cast<float>(y) + 0.5f) * scale;
      Color color = scene->at(sx, sy);
      // A lens darkens its corners; a sensor adds a little noise, alike in the three channels.
      float cx = sx / aspect - 0.5f, cy = sy - 0.5f;
      color = color * (1.04f - 0.45f * (cx * cx + cy * cy));
      float grain = (random01(x, y, seed + 9001) + random01(x, y, seed + 9002) - 1) * 0.025f;
      float values[] = {color.r + grain, color.g + grain, color.b + grain};
      for (int c = 0; c < 3; ++c)
        picture.at(x, y)[c] = static_cast<uint8_t>(clamp01(values[c]) * 255.0f + 0.5f);
    }
  }
  return picture;
}

}  // namespace galatea::samples
