import { adopt } from './adopt.ts'
import { approve } from './approve.ts'
import { approvePrune } from './approve-prune.ts'
import { approveSource } from './approve-source.ts'
import { approveWaiver } from './approve-waiver.ts'
import { check } from './check.ts'
import type { BailiwickCommand } from './command-context.ts'
import { credentials } from './credentials.ts'
import { designate } from './designate.ts'
import { diff } from './diff.ts'
import { enforcement } from './enforcement.ts'
import { explain } from './explain.ts'
import { gate } from './gate.ts'
import { helpVerb } from './help.ts'
import { hold, unhold } from './hold.ts'
import { lockdown } from './lockdown.ts'
import { offboardVerb } from './offboard.ts'
import { onboardVerb } from './onboard.ts'
import { override } from './override.ts'
import { status } from './status.ts'
import { waive } from './waive.ts'

/** Every `/bailiwick` command, in the order of the help text. A new one is a file next to this one and a line here. */
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
]
