import type { BailiwickError } from '../errors.ts'
import type { Verdict } from '../rules/model/finding.ts'

/**
 * The result of an evaluation: a verdict, an error before a verdict was possible, or undefined if no fleet resources
 * are affected.
 */
export type Outcome = Verdict | BailiwickError | undefined
