import { kyvernoLibrary } from '../../cel/kyverno/kyverno-library.ts'
import { CelMap, type CelValue } from '../../cel/values.ts'
import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { textsOf } from '../../kube/read-text.ts'
import type {
  AdmissionAnswer,
  AdmissionFinding,
  AdmissionRequest,
  NotEvaluated,
} from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { readExceptions } from '../kyverno/exception-settings.ts'
import { areMet, evaluatePolicy, type PolicyVerdict } from '../native/evaluate-policy.ts'
import { isMatched } from '../native/is-matched.ts'
import { type CelPolicy, compilePolicy } from '../native/native-policy.ts'
import { podPlaceFor, rewriteFor } from './autogen.ts'
import { outsideNames } from './outside-names.ts'

const GROUP = 'policies.kyverno.io'
export const VALIDATING_POLICY = `${GROUP}/ValidatingPolicy`
export const NAMESPACED_VALIDATING_POLICY = `${GROUP}/NamespacedValidatingPolicy`
export const VALIDATING_EXCEPTION = `${GROUP}/PolicyException`

/** Evaluates Kyverno's ValidatingPolicies and NamespacedValidatingPolicies for a request (kyverno pkg/cel/policies/vpol). */
export function evaluateValidating(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer {
  const findings: AdmissionFinding[] = []
  const notEvaluated: NotEvaluated[] = []
  for (const { policy, action } of validatingPolicies(world, request)) {
    const { kind, namespace, name } = policy
    const rule = { policy: { kind, namespace, name }, rule: '' }
    for (const verdict of verdictsOf(policy, world, request)) {
      if ('unclear' in verdict) notEvaluated.push({ ...rule, origin: verdict.origin, why: verdict.unclear })
      else {
        const { refused: message, field, origin, check } = verdict
        findings.push({ ...rule, field, origin, message, action, by: 'Kyverno', check })
      }
    }
  }
  return { findings, notEvaluated }
}

/** Policies that Kyverno evaluates for objects of a kind in a namespace. */
function validatingPolicies(
  world: AdmissionWorld,
  request: AdmissionRequest,
): readonly { readonly policy: CelPolicy; readonly action: AdmissionFinding['action'] }[] {
  const own = request.isNamespaced ? world.policiesIn(NAMESPACED_VALIDATING_POLICY, request.id.namespace) : []
  return [...world.policies(VALIDATING_POLICY), ...own].flatMap(object => {
    const policy = policyFor(object, request)
    return policy ? [{ policy, action: validatingActionOf(object) }] : []
  })
}

/** The policy as written, or as Kyverno rewrites it for a Pod controller; undefined if it does not apply to objects. */
function policyFor(object: KubeObject, request: AdmissionRequest): CelPolicy | undefined {
  const spec = at(object.root, ['spec'])
  if (!spec || stringAt(spec, ['evaluation', 'mode']) === 'JSON') return undefined
  const place = podPlaceFor(spec, request)
  const known = compiled.get(object) ?? new Map<string, CelPolicy>()
  compiled.set(object, known)
  const made =
    known.get(place ?? '') ??
    compilePolicy(object, {
      by: 'Kyverno',
      library: kyvernoLibrary,
      ...(place ? { rewrite: rewriteFor(place) } : {}),
    })
  known.set(place ?? '', made)
  return made
}

const compiled = new WeakMap<KubeObject, Map<string, CelPolicy>>()

function verdictsOf(policy: CelPolicy, world: AdmissionWorld, request: AdmissionRequest): readonly PolicyVerdict[] {
  const scope = validatingScope(policy, world, request)
  if ('verdicts' in scope) return scope.verdicts
  return evaluatePolicy(policy, world, request, null, scope.names)
}

/** The extra names that the policy's expressions see if it applies; otherwise the result. */
export function validatingScope(
  policy: CelPolicy,
  world: AdmissionWorld,
  request: AdmissionRequest,
):
  | { readonly names: ReadonlyMap<string, CelValue>; readonly isExcepted: boolean }
  | { readonly verdicts: readonly PolicyVerdict[] } {
  const { constraints, object } = policy
  if (!constraints) return { verdicts: [] }
  const isOfPod = podPlaceFor(at(object.root, ['spec'])!, request) !== undefined
  const asPod = { ...request, id: { ...request.id, apiVersion: 'v1', kind: 'Pod' }, resource: 'pods' }
  const matched = isMatched(world, constraints, isOfPod ? asPod : request)
  if (matched === false) return { verdicts: [] }
  if (typeof matched === 'string') return { verdicts: [{ unclear: matched, origin: object.root.origin }] }
  const allowed: { images: Node[]; values: Node[] } = { images: [], values: [] }
  const problems: PolicyVerdict[] = []
  for (const exception of exceptionsOf(policy, world)) {
    const isMet = areMet(policy, exception.conditions, world, request)
    if (isMet === false) continue
    if (isMet !== true) {
      if ('unclear' in isMet || policy.failsClosed) problems.push(isMet)
      continue
    }
    // a verdict must remain true until the commit changes, but this exception expires
    if (exception.end !== undefined) {
      problems.push({
        unclear: 'a PolicyException with spec.expiresAt exempts the object only until then',
        origin: exception.end.origin,
      })
      continue
    }
    if (exception.images.length + exception.values.length === 0) return { verdicts: [] }
    allowed.images.push(...exception.images)
    allowed.values.push(...exception.values)
  }
  if (problems.length > 0) return { verdicts: problems }
  const exceptions = mapOf({ allowedImages: textList(allowed.images), allowedValues: textList(allowed.values) })
  return {
    // of a policy about images such an exception exempts the object; of others only what it names
    isExcepted: allowed.images.length + allowed.values.length > 0,
    names: new Map<string, CelValue>([
      ...outsideNames(world, policy.namespace),
      ['exceptions', exceptions],
      ...absentObjects(request),
    ]),
  }
}

/** An object that a request does not have is an empty map for these policies, not null (pkg/cel/policies/vpol/engine of 1.19). */
function absentObjects({ operation, old }: AdmissionRequest): (readonly [string, CelValue])[] {
  if (operation === 'DELETE') return [['object', NO_OBJECT]]
  return old ? [] : [['oldObject', NO_OBJECT]]
}

const NO_OBJECT = new CelMap(new Map())

const textList = (nodes: readonly Node[]): CelValue =>
  nodes.flatMap(node => (node.type === 'scalar' && typeof node.value === 'string' ? [node.value] : []))

const mapOf = (fields: Readonly<Record<string, CelValue>>): CelMap =>
  new CelMap(new Map(Object.entries(fields).map(([key, value]) => [`s${key}`, [key, value] as const])))

interface Exception {
  readonly conditions: CelPolicy['conditions']
  readonly images: readonly Node[]
  readonly values: readonly Node[]
  /** `expiresAt`. */
  readonly end: Node | undefined
}

/** The platform's exceptions that name the policy, in namespaces from which Kyverno reads them. */
function exceptionsOf(policy: CelPolicy, world: AdmissionWorld): readonly Exception[] {
  const named = world
    .policies(VALIDATING_EXCEPTION)
    .filter(({ root }) =>
      itemsOf(at(root, ['spec', 'policyRefs'])).some(
        ref => stringAt(ref, ['name']) === policy.name && stringAt(ref, ['kind']) === policy.kind,
      ),
    )
  return readExceptions(world, GROUP, named).map(object => {
    const spec = at(object.root, ['spec'])
    const { conditions } = compilePolicy(object, { by: 'Kyverno', library: kyvernoLibrary })
    const [images, values] = ['images', 'allowedValues'].map(key => itemsOf(at(spec, [key]))) as [Node[], Node[]]
    return { conditions, images, values, end: at(spec, ['expiresAt']) }
  })
}

/** `validationActions`, or Deny by default; a policy that does not run at admission only reports. */
export function validatingActionOf({ root }: KubeObject): AdmissionFinding['action'] {
  const enabled = at(root, ['spec', 'evaluation', 'admission', 'enabled'])
  if (enabled?.type === 'scalar' && enabled.value === false) return 'audit'
  const actions = textsOf(at(root, ['spec', 'validationActions'])) ?? []
  if (actions.length === 0 || actions.includes('Deny')) return 'deny'
  return actions.includes('Warn') ? 'warn' : 'audit'
}
