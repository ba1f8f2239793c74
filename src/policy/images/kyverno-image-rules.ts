import { idOf } from '../../kube/object.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { computedRules } from '../kyverno/computed-rules.ts'
import { appliesRule } from '../kyverno/evaluate-rule.ts'
import { isEnforced } from '../kyverno/failure-action.ts'
import { isFiltered } from '../kyverno/is-seen.ts'
import { imageInfo, imageText } from '../kyverno/jmespath/image-info.ts'
import { type ContextValue, type Fields, isFields, isList, RuleError, valueAt } from '../kyverno/jmespath/values.ts'
import { matchesWildcard } from '../kyverno/jmespath/wildcard.ts'
import { kyvernoSettings } from '../kyverno/kyverno-settings.ts'
import { CLUSTER_POLICY, POLICY, type WrittenRule } from '../kyverno/policy-rules.ts'
import type { RuleRequest } from '../kyverno/rule-request.ts'
import { ruleRequestOf } from '../kyverno/rule-request-of.ts'
import { ruleWorld } from '../kyverno/rule-world.ts'
import type { ImageRule, ImageVerdict } from './image-rule.ts'
import type { ImageUse } from './image-use.ts'

/** The `verifyImages` rules of ClusterPolicies and Policies that select a Pod, or whatever else a request creates. */
export function kyvernoImageRules(world: AdmissionWorld, request: AdmissionRequest): ImageRule[] {
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
