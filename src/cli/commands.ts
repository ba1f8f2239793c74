import { build } from './build.ts'
import { check } from './check.ts'
import type { Command } from './command.ts'
import { onboard } from './onboard.ts'
import { render } from './render.ts'

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [check, render, build, onboard]
