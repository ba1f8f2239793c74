import { oncePer } from '../base/once-per.ts'
import { PolicyExpression } from '../expr/libraries/kubernetes-library.ts'
import { kyvernoLibrary } from '../expr/libraries/kyverno-library.ts'
import type { FleetIndex } from '../fleet/facts/fleet-index.ts'
import { kindOfId, type Rendered } from '../fleet/facts/object-table.ts'
import { at, itemsOf, type Node, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { userInfo } from '../kube/rbac/policy-rule.ts'
import { resourceOf } from '../kube/rbac/resources.ts'
import { type AdmissionRequest, type AdmissionWorld, worldOf } from './admission/admission-request.ts'
import { areMet, type CelPolicy, compilePolicy } from './admission/native-policy.ts'
import {
  IMAGE_POLICY,
  type ImageRule,
  type ImageUse,
  type ImageVerdict,
  imagePolicies,
  imageUses,
  NAMESPACED_IMAGE_POLICY,
  podRequest,
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
import { validatingActionOf, validatingScope } from './kyverno/validating-engine.ts'

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

/** Kyverno's ImageValidatingPolicies and NamespacedImageValidatingPolicies that select a request (pkg/cel/policies/ivpol). */
function validatingImageRules(world: AdmissionWorld, request: AdmissionRequest): ImageRule[] {
  const { namespace } = request.id
  const own = namespace ? world.policiesIn(NAMESPACED_IMAGE_POLICY, namespace) : []
  return [...world.policies(IMAGE_POLICY), ...own].flatMap(object => {
    if (stringAt(object.root, ['spec', 'evaluation', 'mode']) === 'JSON') return []
    const policy = compiled(object)
    const selected = selects(policy, world, request)
    if (selected === false) return []
    const { kind, namespace: place, name } = policy
    return [
      {
        policy: { kind, namespace: place, name },
        rule: '',
        origin: object.root.origin,
        enforces: validatingActionOf(object) === 'deny',
        ...(selected === true ? {} : { why: selected }),
        verdict: (use: ImageUse) => validatingVerdictOf(use, policy),
      },
    ]
  })
}

const compiled = oncePer((object: KubeObject) => compilePolicy(object, { by: 'Kyverno', library: kyvernoLibrary }))

/** A text: why that is not known. */
function selects(policy: CelPolicy, world: AdmissionWorld, request: AdmissionRequest): boolean | string {
  const scope = validatingScope(policy, world, request)
  if ('verdicts' in scope) {
    const unclear = scope.verdicts.find(one => 'unclear' in one)
    return unclear && 'unclear' in unclear ? unclear.unclear : false
  }
  if (scope.isExcepted) return false
  const isMet = areMet(policy, policy.conditions, world, request)
  if (typeof isMet === 'boolean') return isMet
  return 'unclear' in isMet ? isMet.unclear : isMet.refused
}

const VERIFIES = /\bverify(?:Image|Attestation)Signatures\b/

function validatingVerdictOf({ written, list }: ImageUse, policy: CelPolicy): ImageVerdict {
  const spec = at(policy.object.root, ['spec'])
  const texts = [...policy.validations, ...policy.variables].map(({ text }) => text)
  if (!texts.some(text => VERIFIES.test(text)))
    return { state: 'unmatched', why: 'its validations verify no signature' }
  if (written === undefined) return { state: 'unknown', why: 'only the cluster knows the image' }
  const matched = isMatched(itemsOf(at(spec, ['matchImageReferences'])), written)
  if (typeof matched === 'string') return { state: 'unknown', why: matched }
  if (!matched) return { state: 'unmatched', why: 'matchImageReferences does not match the image as it is written' }
  const isNamed = texts.some(text =>
    new RegExp(`\\bimages(?:\\.${list}\\b|\\s*(?:\\[|\\.(?!\\w*[cC]ontainers\\b)))`).test(text),
  )
  if (isNamed) return { state: 'verified' }
  const why = `its validations do not name images.${list}`
  const required = at(spec, ['validationConfigurations', 'required'])
  // later versions of Kyverno refuse matched images that no validation verified
  const isRequired = !(required?.type === 'scalar' && required.value === false)
  return { state: isRequired ? 'unknown' : 'unmatched', why }
}

/** Whether an image is selected, as it is written; no references select every image. */
function isMatched(references: readonly Node[], image: string): boolean | string {
  if (references.length === 0) return true
  const answers = references.map(one => {
    const glob = stringAt(one, ['glob']) ?? ''
    return glob === '' ? byExpression(stringAt(one, ['expression']) ?? '', image) : byGlob(glob, image)
  })
  if (answers.includes(true)) return true
  return answers.find(one => typeof one === 'string') ?? false
}

function byExpression(text: string, image: string): boolean | string {
  const expression = PolicyExpression.compile(text, kyvernoLibrary)
  if ('problem' in expression) return `matchImageReferences is not supported: ${expression.problem}`
  const outcome = expression.evaluate(new Map([['ref', image]]))
  if ('value' in outcome) return outcome.value === true
  return 'error' in outcome ? outcome.error : outcome.notEvaluated
}

const MAX_ALTERNATIVES = 100

/** Globs of github.com/gobwas/glob without separators: `*` is any text, `?` one character, `{a,b}` alternatives. */
function byGlob(glob: string, image: string): boolean | string {
  if (/[[\]\\!]/.test(glob)) return 'matchImageReferences uses a glob with brackets or escapes'
  const patterns = alternatives(glob)
  if (!patterns) return `matchImageReferences uses a glob with nested or more than ${MAX_ALTERNATIVES} alternatives`
  return patterns.some(pattern => matchesWildcard(pattern, image))
}

/** A glob for each alternative; undefined where braces are nested or not closed, or where there are too many. */
function alternatives(glob: string): string[] | undefined {
  let made = ['']
  for (const part of glob.split(/(\{[^{}]*\})/)) {
    const isChoice = part.startsWith('{') && part.endsWith('}')
    if (!isChoice && /[{}]/.test(part)) return undefined
    const options = isChoice ? part.slice(1, -1).split(',') : [part]
    if (made.length * options.length > MAX_ALTERNATIVES) return undefined
    made = made.flatMap(before => options.map(option => before + option))
  }
  return made
}
