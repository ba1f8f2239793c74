import { check } from './check.ts'
import type { Command } from './command.ts'
import { onboard } from './onboard.ts'

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [check, onboard]
