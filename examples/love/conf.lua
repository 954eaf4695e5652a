function love.conf(t)
  t.identity = "ember"
  t.window.title, t.window.width, t.window.height = "ember", 960, 540
  t.modules.audio, t.modules.sound, t.modules.joystick = false, false, false
end
