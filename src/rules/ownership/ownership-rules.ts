import type { Rule } from '../model/rule.ts'
import { driftIgnore } from './drift-ignore.ts'
import { forceApply } from './force-apply.ts'
import { massDeletion } from './mass-deletion.ts'
import { networkPolicyOpen } from './network-policy-open.ts'
import { ownerFinalizerTamper } from './owner-finalizer-tamper.ts'
import { ownerLabelForged } from './owner-label-forged.ts'
import { ownershipConflict } from './ownership-conflict.ts'
import { pruneProtected } from './prune-protected.ts'
import { quotaTamper } from './quota-tamper.ts'

/** Who owns what, and what goes away. */
export const ownershipRules: readonly Rule[] = [
  driftIgnore,
  forceApply,
  massDeletion,
  networkPolicyOpen,
  ownerFinalizerTamper,
  ownerLabelForged,
  ownershipConflict,
  pruneProtected,
  quotaTamper,
]
