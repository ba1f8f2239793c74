import type { BailiwickError } from '../errors.ts'
import type { Verdict } from '../rules/model/finding.ts'

/** What an evaluation came to: a verdict; an error before there could be one; undefined: no fleet resources are affected. */
export type Outcome = Verdict | BailiwickError | undefined
