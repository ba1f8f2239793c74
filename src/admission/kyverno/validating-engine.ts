import { oncePerName } from '../../base/once-per.ts'
import { CelError, CelUnknownError } from '../../expr/expression.ts'
import { kyvernoLibrary, OutsideContext } from '../../expr/libraries/kyverno-library.ts'
import { CelMap, type CelValue, fromJson } from '../../expr/values.ts'
import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { textsOf } from '../../kube/read-fields.ts'
import {
  type AdmissionAnswer,
  type AdmissionFinding,
  type AdmissionRequest,
  type AdmissionWorld,
  type GivenInputs,
  type NotEvaluated,
  type StoredQuery,
  selectObjects,
  storedObjects,
} from '../admission/admission-request.ts'
import { isMatched } from '../admission/native-engine.ts'
import {
  areMet,
  type CelPolicy,
  compilePolicy,
  evaluatePolicy,
  type PolicyVerdict,
} from '../admission/native-policy.ts'
import { objectValueIn } from '../admission/request-value.ts'
import { readExceptions } from './kyverno-settings.ts'

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
  return compiled(object, place ?? '', () => {
    const rewrite = place ? { rewrite: rewriteFor(place) } : {}
    return compilePolicy(object, { by: 'Kyverno', library: kyvernoLibrary, ...rewrite })
  })
}

const compiled = oncePerName<KubeObject, CelPolicy>()

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

/** The path of a controller's Pod template. */
type PodPlace = 'spec.template' | 'spec.jobTemplate.spec.template'

/** Controllers for which Kyverno rewrites the policy, by `<apiVersion> <resource>` (kyverno pkg/cel/autogen). */
const CONTROLLERS: ReadonlyMap<string, PodPlace> = new Map([
  ...['daemonsets', 'deployments', 'replicasets', 'statefulsets'].map(
    name => [`apps/v1 ${name}`, 'spec.template'] as const,
  ),
  ['batch/v1 jobs', 'spec.template'],
  ['batch/v1 cronjobs', 'spec.jobTemplate.spec.template'],
])

/** The path of the Pod template in an object of another kind; undefined if Kyverno does not rewrite the policy for that kind. */
function podPlaceFor(spec: Node, { id, resource }: AdmissionRequest): PodPlace | undefined {
  const place = CONTROLLERS.get(`${id.apiVersion} ${resource}`)
  if (place === undefined || !isOfPodsAlone(at(spec, ['matchConstraints']))) return undefined
  const asked = at(spec, ['autogen', 'podControllers', 'controllers'])
  return asked === undefined || (textsOf(asked) ?? []).includes(resource) ? place : undefined
}

function isOfPodsAlone(match: Node | undefined): boolean {
  const [rules, excluded] = [at(match, ['resourceRules']), at(match, ['excludeResourceRules'])]
  if (rules?.type !== 'list' || rules.items.length !== 1) return false
  if (excluded?.type === 'list' && excluded.items.length > 0) return false
  const selector = at(match, ['objectSelector'])
  const isSelecting = selector?.type === 'map' && [...selector.fields.values()].some(({ value }) => holds(value))
  const [rule] = rules.items
  const is = (key: string, wanted: string) => {
    const texts = textsOf(at(rule, [key])) ?? []
    return texts.length === 1 && texts[0] === wanted
  }
  const isNamed = holds(at(rule, ['resourceNames']))
  return !isSelecting && !isNamed && is('apiGroups', '') && is('apiVersions', 'v1') && is('resources', 'pods')
}

const holds = (node: Node | undefined): boolean =>
  (node?.type === 'map' && node.fields.size > 0) || (node?.type === 'list' && node.items.length > 0)

/** Rewrites an expression about a Pod to the Pod template of a controller; `metadata.namespace` stays the object's own. */
function rewriteFor(place: PodPlace): (text: string) => string {
  return text =>
    text
      .replace(/(object|oldObject)\.spec(?!\.namespace(?!\w))/g, `$1.${place}.spec`)
      .replace(/(object|oldObject)\.metadata(?!\.namespace(?!\w))/g, `$1.${place}.metadata`)
}

type Args = readonly CelValue[]

/** The names of Kyverno's expressions that read a cluster, a registry or the network. */
function outsideNames(world: AdmissionWorld, policyNamespace: string): ReadonlyMap<string, CelValue> {
  const { given } = world
  const answers: Readonly<Record<string, (method: string, args: Args) => CelValue | undefined>> = {
    resource: (method, args) => resourceAnswer(world, method, args, policyNamespace),
    image: (_, [reference]) => (given && typeof reference === 'string' ? imageOf(given, reference) : undefined),
    globalContext: (_, [name, projection]) =>
      given && typeof name === 'string' ? globalValue(given, name, projection) : undefined,
    http: (method, [url]) =>
      given && typeof url === 'string' ? responseOf(given, method.toUpperCase(), url) : undefined,
  }
  return new Map(Object.entries(answers).map(([name, answer]) => [name, new OutsideContext(name, answer)]))
}

/** `get` and `list`. The expressions of a policy in a namespace do not name the namespace. */
function resourceAnswer(world: AdmissionWorld, written: string, args: Args, policyNamespace: string) {
  const method = written.toLowerCase()
  if (method !== 'get' && method !== 'list') return undefined
  const texts = args.filter(arg => typeof arg === 'string')
  const [apiVersion = '', resource = ''] = texts
  const rest = policyNamespace === '' ? texts.slice(2) : [policyNamespace, ...texts.slice(2)]
  const [namespace = '', name = ''] = rest
  if (texts.length !== args.length || rest.length !== (method === 'get' ? 2 : 1)) return undefined
  const query = { apiVersion, resource, namespace, name }
  if (world.given) return givenAnswer(world, world.given, query)
  const found = storedObjects(world, query)
  if (typeof found === 'string') throw new CelUnknownError(`resource.${written}: ${found}`)
  return objectValueIn(world, found[0])
}

function givenAnswer(world: AdmissionWorld, given: GivenInputs, query: StoredQuery): CelValue {
  const ofKind = selectObjects(given.resources, { ...query, namespace: '', name: '' }, given.resourceOf)
  const found = selectObjects(ofKind, query, given.resourceOf).map(object => objectValueIn(world, object))
  if (query.name !== '') return found[0] ?? null
  if (ofKind.length === 0) throw new CelError(`failed to list resource: ${query.resource} resource not found`)
  return new CelMap(new Map([['sitems', ['items', found]]]))
}

function imageOf(given: GivenInputs, reference: string): CelValue {
  const metadata = given.image(reference)
  if (metadata === undefined) throw new CelError(`image data for ${reference} not found in the context`)
  return fromJson(metadata)
}

function globalValue(given: GivenInputs, name: string, projection: CelValue | undefined): CelValue {
  const content = given.globalContext(name)
  if (content === undefined) return null
  const value = fromJson(content)
  if (typeof projection !== 'string' || projection === '') return value
  const found = value instanceof CelMap ? value.entries.get(`s${projection}`)?.[1] : undefined
  if (found === undefined) throw new CelError(`projection ${projection} not found in global context entry ${name}`)
  return found
}

function responseOf(given: GivenInputs, method: string, url: string): CelValue | undefined {
  const response = given.response(method, url)
  return response && fromJson({ body: response.body, statusCode: response.status })
}
