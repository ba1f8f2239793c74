import type { Rule } from '../model/rule.ts'
import { fluxControlPlaneObject } from './flux-control-plane-object.ts'
import { fluxLockdownWeakened } from './flux-lockdown-weakened.ts'

/** How Flux itself runs. */
export const fluxRules: readonly Rule[] = [fluxControlPlaneObject, fluxLockdownWeakened]
