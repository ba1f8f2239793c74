import type { FleetIndex } from '../../facts/fleet-index.ts'
import type { Subject } from '../../facts/subject.ts'
import { userInfo } from '../../kube/rbac/groups-of.ts'
import { resourceOf } from '../../kube/rbac/resource-name.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import { type AdmissionWorld, worldOf } from '../admission/admission-world.ts'
import { imagePolicies } from './image-policies.ts'
import type { ImageRule } from './image-rule.ts'
import type { ImageUse } from './image-use.ts'
import { imageUses } from './image-uses.ts'
import { kyvernoImageRules } from './kyverno-image-rules.ts'
import { podRequest } from './pod-request.ts'
import { validatingImageRules } from './validating-image-rules.ts'

/** Whether a policy of the fleet asks for a signature of an image. The signature itself is not evaluated offline. */
export interface ImageCoverage {
  readonly use: ImageUse
  /** `enforced`: Kyverno refuses the image without a valid signature; `audited`: it reports that; `none`: no policy asks. */
  readonly state: 'enforced' | 'audited' | 'unknown' | 'none'
  /** The rule that decides; undefined where no rule selects the object. */
  readonly by: ImageRule | undefined
  /** Why the image is not covered, or why that is not known; '' for a covered one. */
  readonly why: string
}

/**
 * The coverage of each image that an object runs. Asked about the object as its account applies it, and about the Pod that a
 * controller makes of it: either is enough, because what is refused does not run. Images of custom kinds are not evaluated.
 */
export function imageCoverage(index: FleetIndex, { object, id, kind, node }: Subject): ImageCoverage[] {
  const uses = imageUses(kind, object)
  const world = worldOf(index, node.cluster)
  if (uses.length === 0) return []
  if (imagePolicies(world).length === 0) return uses.map(use => ({ use, state: 'none', by: undefined, why: NO_POLICY }))
  const own: AdmissionRequest = {
    operation: 'CREATE',
    ...{ object, id },
    user: userInfo(node.identity.user),
    resource: resourceOf(id.apiVersion, id.kind, new Map()),
    isNamespaced: id.namespace !== '',
  }
  const ofPod = podRequest(kind, own)
  const rules = [...rulesFor(world, own), ...(ofPod ? rulesFor(world, ofPod) : [])]
  return uses.map(use => coverageOf(use, rules))
}

const rulesFor = (world: AdmissionWorld, request: AdmissionRequest): ImageRule[] => [
  ...kyvernoImageRules(world, request),
  ...validatingImageRules(world, request),
]

const NO_POLICY = 'the fleet has no policy that verifies images'

type Answer = Omit<ImageCoverage, 'use'>

function coverageOf(use: ImageUse, rules: readonly ImageRule[]): ImageCoverage {
  const answers = rules.map(rule => answerOf(use, rule)).sort((a, b) => RANK[a.state] - RANK[b.state])
  // of those that do not cover it, one that skips it says more than one that is about other images
  const best = answers.find(({ state, isSkipped }) => state !== 'none' || isSkipped) ?? answers[0]
  const { state, by, why }: Answer = best ?? { state: 'none', by: undefined, why: 'no policy selects the object' }
  return { use, state, by, why }
}

const RANK: Readonly<Record<ImageCoverage['state'], number>> = { enforced: 0, audited: 1, unknown: 2, none: 3 }

function answerOf(use: ImageUse, by: ImageRule): Answer & { readonly isSkipped: boolean } {
  const verdict = by.verdict(use)
  const isSkipped = verdict.state === 'skipped'
  if (verdict.state === 'skipped' || verdict.state === 'unmatched')
    return { state: 'none', by, why: verdict.why, isSkipped }
  if (verdict.state === 'unknown') return { state: 'unknown', by, why: verdict.why, isSkipped }
  if (by.why !== undefined) return { state: 'unknown', by, why: by.why, isSkipped }
  return { state: by.enforces ? 'enforced' : 'audited', by, why: '', isSkipped }
}
