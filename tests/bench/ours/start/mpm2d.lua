-- One step of ../mpm2d.lua.
dofile((arg[0]:gsub("start/mpm2d%.lua$", "mpm2d.lua")))
