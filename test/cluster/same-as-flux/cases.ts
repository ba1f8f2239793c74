import { APPLY } from './cases/apply.ts'
import { FILES } from './cases/files.ts'
import { HEALTH } from './cases/health.ts'
import { ORIGIN } from './cases/origin.ts'
import { PRUNE } from './cases/prune.ts'
import { TRANSFORM } from './cases/transform.ts'
import { TROUBLE } from './cases/trouble.ts'
import type { SameCase } from './step.ts'

/** What kustomize-controller's own test functions are about, written anew as fleets. */
export const SAME_CASES: Readonly<Record<string, SameCase>> = {
  ...APPLY,
  ...PRUNE,
  ...FILES,
  ...ORIGIN,
  ...TRANSFORM,
  ...TROUBLE,
  ...HEALTH,
}
