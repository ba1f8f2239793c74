import type { FleetIndex } from '../fleet/facts/fleet-index.ts'
import { kindOfId, type Rendered } from '../fleet/facts/object-table.ts'
import { idOf } from '../kube/object.ts'
import { userInfo } from '../kube/rbac/policy-rule.ts'
import { resourceOf } from '../kube/rbac/resources.ts'
import { type AdmissionRequest, type AdmissionWorld, worldOf } from './admission/admission-request.ts'
import {
  IMAGE_POLICY,
  type ImageRule,
  type ImageUse,
  type ImageVerdict,
  imageUses,
  NAMESPACED_IMAGE_POLICY,
  podRequest,
  verifiesImages,
} from './image-uses.ts'
import { imageInfo, imageText } from './jmespath/text-functions.ts'
import {
  type ContextValue,
  type Fields,
  isFields,
  isList,
  matchesWildcard,
  RuleError,
  valueAt,
} from './jmespath/values.ts'
import { isEnforced, isFiltered } from './kyverno/evaluate-kyverno.ts'
import { appliesRule, ruleWorld } from './kyverno/evaluate-rule.ts'
import { kyvernoSettings } from './kyverno/kyverno-settings.ts'
import { CLUSTER_POLICY, computedRules, POLICY, type WrittenRule } from './kyverno/policy-rules.ts'
import { type RuleRequest, ruleRequestOf } from './kyverno/rule-request.ts'
import { validatingActionOf } from './kyverno/validating-engine.ts'

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
export function imageCoverage(index: FleetIndex, { object, node }: Rendered): ImageCoverage[] {
  const id = idOf(object)
  const kind = kindOfId(id)
  const uses = imageUses(kind, object)
  const world = worldOf(index, node.cluster)
  if (uses.length === 0) return []
  if (!verifiesImages(world)) return uses.map(use => ({ use, state: 'none', by: undefined, why: NO_POLICY }))
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

/** The `verifyImages` rules of ClusterPolicies and Policies that select a Pod, or whatever else a request creates. */
function kyvernoImageRules(world: AdmissionWorld, request: AdmissionRequest): ImageRule[] {
  const { namespace } = request.id
  const policies = [...world.policies(CLUSTER_POLICY), ...(namespace ? world.policiesIn(POLICY, namespace) : [])]
  const rules = policies.flatMap(policy =>
    // rules for Pods stay as they are: what Kyverno generates from them for controllers asks for the same images
    computedRules(policy, 'Pod').flatMap((one): WrittenRule[] => {
      const { kind, namespace: own } = idOf(policy)
      return isList(one.rule.get('verifyImages'))
        ? [{ ...one, policy, policyNamespace: kind === 'Policy' ? own : '' }]
        : []
    }),
  )
  if (rules.length === 0) return []
  const asked = ruleRequestOf(world, request)
  if (isFiltered(kyvernoSettings(world), asked)) return []
  return rules.flatMap(rule => imageRule(world, rule, asked, request))
}

function imageRule(
  world: AdmissionWorld,
  rule: WrittenRule,
  asked: RuleRequest,
  request: AdmissionRequest,
): ImageRule[] {
  // match, context, preconditions and exceptions count as for a rule that validates
  const selecting = { ...rule, rule: new Map(rule.rule).set('validate', new Map()) }
  const answer = appliesRule(selecting, asked, ruleWorld(world, selecting, request))
  if (!answer) return []
  const { kind, namespace, name } = idOf(rule.policy)
  const enforces = isEnforced(withActionOfImages(rule), asked)
  const hasExtractors = isList(valueAt(rule.rule, ['imageExtractors', request.id.kind]))
  const why = [
    answer.status === 'unclear' ? answer.why : '',
    enforces === undefined ? 'failureActionOverrides selects by labels' : '',
  ].find(one => one !== '')
  const entries = entriesOf(rule.rule)
  return [
    {
      policy: { kind, namespace, name },
      rule: rule.writtenName,
      origin: rule.origin,
      enforces: enforces === true,
      ...(why === undefined ? {} : { why }),
      verdict: use => (hasExtractors ? OWN_EXTRACTORS : verdictOf(use, entries)),
    },
  ]
}

/** A rule whose own action is the one of its images: one entry that enforces is enough, else the first counts. */
function withActionOfImages(rule: WrittenRule): WrittenRule {
  if (rule.rule.has('validate')) return rule
  const actions = entriesOf(rule.rule).flatMap(entry => textsOf([entry.get('failureAction')]))
  const action = actions.find(one => /^enforce$/i.test(one)) ?? actions[0]
  if (action === undefined) return rule
  return { ...rule, rule: new Map(rule.rule).set('validate', new Map([['failureAction', action]])) }
}

function entriesOf(rule: Fields): Fields[] {
  const list = rule.get('verifyImages')
  return isList(list) ? list.filter(isFields) : []
}

const OWN_EXTRACTORS: ImageVerdict = {
  state: 'unknown',
  why: 'the rule finds images of Pods by its own imageExtractors',
}

function verdictOf({ written }: ImageUse, entries: readonly Fields[]): ImageVerdict {
  if (written === undefined) return { state: 'unknown', why: 'only the cluster knows the image' }
  const image = normalised(written)
  if (image === undefined) return { state: 'unknown', why: 'the image is not a valid reference' }
  const verdicts = entries.map(entry => entryVerdict(entry, image))
  const order: readonly ImageVerdict['state'][] = ['verified', 'unknown', 'skipped', 'unmatched']
  const found = order.map(state => verdicts.find(one => one.state === state)).find(one => one !== undefined)
  return found ?? { state: 'unmatched', why: 'verifyImages is empty' }
}

/** The image as Kyverno compares it: with registry, and with the digest or the tag; undefined for none that it can read. */
function normalised(written: string): string | undefined {
  try {
    return imageText(imageInfo(written))
  } catch (error) {
    if (error instanceof RuleError) return undefined
    throw error
  }
}

const SIGNERS = ['attestors', 'attestations']

function entryVerdict(entry: Fields, image: string): ImageVerdict {
  const references = [...listAt(entry, 'imageReferences'), ...textsOf([entry.get('image')])]
  const matched = isAny(references, image)
  if (matched === undefined) return { state: 'unknown', why: 'imageReferences holds variables' }
  if (!matched) return { state: 'unmatched', why: 'imageReferences does not match' }
  const skipped = isAny(listAt(entry, 'skipImageReferences'), image)
  if (skipped === undefined) return { state: 'unknown', why: 'skipImageReferences holds variables' }
  if (skipped) return { state: 'skipped', why: 'skipImageReferences matches' }
  const isSigned =
    SIGNERS.some(key => isFilled(entry.get(key))) || textsOf([entry.get('key'), entry.get('issuer')]).length > 0
  return isSigned
    ? { state: 'verified' }
    : { state: 'unmatched', why: 'the rule names neither attestors nor attestations' }
}

/** Undefined: a pattern with variables may match. */
function isAny(patterns: readonly string[], image: string): boolean | undefined {
  if (patterns.some(pattern => matchesWildcard(pattern, image))) return true
  return patterns.some(pattern => pattern.includes('{{')) ? undefined : false
}

const isFilled = (value: ContextValue | undefined) => isList(value) && value.length > 0

function listAt(entry: Fields, key: string): string[] {
  const list = valueAt(entry, [key])
  return isList(list) ? textsOf(list) : []
}

const textsOf = (values: readonly (ContextValue | undefined)[]): string[] =>
  values.filter(one => typeof one === 'string' && one !== '') as string[]

/** Kyverno's ImageValidatingPolicies and NamespacedImageValidatingPolicies: what they cover is not evaluated. */
function validatingImageRules(world: AdmissionWorld, { id }: AdmissionRequest): ImageRule[] {
  const own = id.namespace ? world.policiesIn(NAMESPACED_IMAGE_POLICY, id.namespace) : []
  return [...world.policies(IMAGE_POLICY), ...own].map((object): ImageRule => {
    const { kind, namespace, name } = idOf(object)
    return {
      policy: { kind, namespace, name },
      rule: '',
      origin: object.root.origin,
      enforces: validatingActionOf(object) === 'deny',
      verdict: () => ({ state: 'unknown', why: `policies of kind ${kind} are not evaluated` }),
    }
  })
}
