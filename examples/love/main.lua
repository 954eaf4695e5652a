-- main.lua - ember: carry a flame through the wind, and light all lanterns before it dies.
--     regolith build --love examples/love -o ember.love      love ember.love
--
-- The mouse moves the flame, r begins again, escape ends. Its air is a fluid of 57,600 cells,
-- computed on all cores by kernels that were built ahead of time (build.lua). `love ember.love demo
-- 200` plays by itself for so many frames, writes shot.png to the save folder and ends.
local rg = require "regolith"

local fire = rg.module.open "fire.rgm"
local width, height, scale = fire.matter.shape[0], fire.matter.shape[1], 3
local data = love.image.newImageData(width, height)
local pixels = rg.wrap(data:getFFIPointer(), rg.u8, { height, width, 4 }, { owner = data })
local image
local walls = { { 70, 0, 78, 96 }, { 150, 70, 158, 180 }, { 232, 0, 240, 110 },
  { 182, 60, 210, 68 } }
local lanterns = { { 40, 140 }, { 112, 40 }, { 112, 150 }, { 196, 90 }, { 196, 30 }, { 282, 60 },
  { 282, 150 } }
local flame, time, lit, fuel, demo, frames

local function restart()
  fire.clear()
  for _, w in ipairs(walls) do fire.build(rg.vec2(w[1], w[2]), rg.vec2(w[3], w[4])) end
  for _, lantern in ipairs(lanterns) do lantern.is_lit = false end
  flame, time, lit, fuel, frames = { x = 30, y = 40 }, 0, 0, 1, 0
end

function love.load(words)
  demo = words[1] == "demo" and (tonumber(words[2]) or 300)
  image = love.graphics.newImage(data)
  image:setFilter("linear", "linear")
  restart()
end

local function is_over() return lit == #lanterns or fuel <= 0 end

-- Where the flame should go, in cells, y upward.
local function goal()
  if demo then
    return 160 + 125 * math.cos(0.6 * time + 3), 90 + 55 * math.sin(1.7 * time)
  end
  local x, y = love.mouse.getPosition()
  return x / scale, height - y / scale
end

-- The flame follows with some weight, and does not pass walls.
local function move(dt)
  local x, y = goal()
  local vx, vy = (x - flame.x) * math.min(1, 6 * dt), (y - flame.y) * math.min(1, 6 * dt)
  local function is_free(i, j)
    for _, w in ipairs(walls) do
      if i > w[1] - 3 and i < w[3] + 3 and j > w[2] - 3 and j < w[4] + 3 then return false end
    end
    return i > 2 and i < width - 2 and j > 2 and j < height - 2
  end
  if is_free(flame.x + vx, flame.y) then flame.x = flame.x + vx else vx = 0 end
  if is_free(flame.x, flame.y + vy) then flame.y = flame.y + vy else vy = 0 end
  if fuel > 0 then
    fire.burn(rg.vec2(flame.x, flame.y), 0.6 / dt * rg.vec2(vx, vy), 3 + 4 * fuel, 0.5 + fuel)
  end
end

function love.update(dt)
  dt = demo and 1 / 60 or math.min(dt, 1 / 30)
  if not is_over() then
    time, fuel = time + dt, fuel - dt / 40
    move(dt)
  end
  for _, lantern in ipairs(lanterns) do
    if lantern.is_lit then
      fire.burn(rg.vec2(lantern[1], lantern[2]), rg.vec2(0), 3.5, 1.1)
    elseif fire.warmth(lantern[1], lantern[2]) > 0.35 then
      lantern.is_lit, lit, fuel = true, lit + 1, math.min(1, fuel + 0.15)
    end
  end
  fire.step(dt, 25 * math.sin(0.8 * time) * math.sin(0.33 * time + 1))
end

local function write(words, y, size)
  love.graphics.setColor(1, 0.85, 0.6)
  love.graphics.printf(words, 0, y, width * scale / size, "center", 0, size, size)
end

function love.draw()
  fire.paint(pixels, rg.vec2(flame.x, flame.y), 0.9 * math.max(fuel, 0))
  image:replacePixels(data)
  love.graphics.setColor(1, 1, 1)
  love.graphics.draw(image, 0, 0, 0, scale, scale)
  for _, lantern in ipairs(lanterns) do
    local x, y = lantern[1] * scale, (height - lantern[2]) * scale
    love.graphics.setColor(0.75, 0.6, 0.35)
    love.graphics.setLineWidth(3)
    love.graphics.rectangle("line", x - 15, y - 21, 30, 42, 6)
    love.graphics.line(x - 18, y - 24, x, y - 36, x + 18, y - 24)
  end
  love.graphics.setColor(1, 0.6, 0.2, 0.9)
  love.graphics.rectangle("fill", 20, 20, 200 * math.max(fuel, 0), 8, 4)
  if lit == #lanterns then write(("all lit in %.1f s - r plays again"):format(time), 240, 2)
  elseif fuel <= 0 then write("the flame has died - r plays again", 240, 2) end
  frames = frames + 1
  if demo and frames == demo then love.graphics.captureScreenshot "shot.png" end
  if demo and frames > demo then
    print(("%d lit, %d kernels compiled, library %s"):format(lit, rg.stats().compiles,
      rg.info().library:match "[^/]*$"))
    love.event.quit()
  end
end

function love.keypressed(key)
  if key == "escape" then love.event.quit() elseif key == "r" then restart() end
end
