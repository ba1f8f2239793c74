import { approve, approvePrune, approveSource } from './approve.ts'
import type { BailiwickCommand } from './command-context.ts'
import { designate, enforcement, gate, pause, resume } from './fleet.ts'
import { hold, override, unhold } from './override.ts'
import { check, credentials, diff, explain, helpVerb, status } from './questions.ts'
import { adopt, lockdown, offboardVerb, onboardVerb } from './tenants.ts'
import { approveWaiver, waive } from './waive.ts'

/** Every `/bailiwick` command, in the order of the help text. A new one needs a line here. */
export const commands: readonly BailiwickCommand[] = [
  helpVerb(() => commands),
  status,
  explain,
  diff,
  check,
  hold,
  unhold,
  waive,
  approve,
  approveWaiver,
  approvePrune,
  approveSource,
  override,
  onboardVerb,
  offboardVerb,
  adopt,
  lockdown,
  credentials,
  designate,
  gate,
  enforcement,
  pause,
  resume,
]
