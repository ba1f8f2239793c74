import { message, untyped } from '../../base/message.ts'
import { memberSettings } from '../../fleet/config/declared-settings.ts'
import { quoted, whoOf } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { FleetConfig } from '../../fleet/model/fleet-config.ts'
import { pointer } from '../../kube/field-lines.ts'
import { at, entriesOf, type Node, type Path } from '../../kube/node.ts'
import { type KubeObject, POD_SPEC_PATHS } from '../../kube/object.ts'
import { everyMap, textOf } from '../model/object-values.ts'
import { type Rule, Subject, type Violation } from '../model/rule.ts'
import {
  ANY_TREE,
  askedOf,
  CONTAINER_TREE,
  firstSteps,
  POD_TREE,
  type PodRequirement,
  type RequirementTree,
  type Standard,
} from './pod-standards.ts'
import { type Container, containersOf, isCustomKind, isInUserNamespace, type Pod, podAt } from './pods.ts'

/** What a field that breaks a standard is; made a finding where the object and its node are known. */
interface Fault {
  readonly path: Path
  readonly standard: Standard
  readonly reason: string
  readonly allowed: string
  /** It is a container that prepares a volume as root, and has no other privilege. */
  readonly rootSetUp?: true
}

const TELLING = firstSteps(ANY_TREE)

/** Tenants' pods keep to the Pod Security Standards in the fields they set; unset fields are not evaluated. */
export const podSecurity: Rule = {
  id: 'pod-security',
  severity: 'critical',
  title: 'Pod that violates the Pod Security Standards',
  why: "A privileged pod, or one with host namespaces or host directories, is root on its node. It can take over every workload there, including the platform's tokens.",
  source: 'Pod Security Standards; k8s.io/pod-security-admission',
  docs: 'Remove host namespaces, hostPath, hostPort, privileged mode, unsafe sysctls and added capabilities (baseline). Remove root users, privilege escalation and unconfined profiles (restricted: a warning in the profile `baseline`). An init container that runs as root without other privileges is allowed in the profile `baseline`. It is a warning where the fleet sets no profile. A kind outside Kubernetes itself is a warning.',
  kinds: 'every',
  *checkTenantObject(subject, { index, config }) {
    const path = POD_SPEC_PATHS.get(subject.kind)
    if (path) yield* evaluateBuiltIn(subject, path, levelOfRootSetUp(config, subject.node.tenant))
    else if (isCustomKind(subject, index, TELLING)) yield* evaluateCustom(subject)
  },
}

function* evaluateBuiltIn(
  { object, node }: Subject,
  path: Path,
  rootSetUp: 'violation' | 'warning' | 'allowed',
): Iterable<Violation> {
  const pod = podAt(object.root, path)
  if (!pod) return
  for (const fault of faultsOf(pod)) {
    if (fault.rootSetUp && rootSetUp === 'allowed') continue
    const level = fault.rootSetUp && rootSetUp === 'warning' ? { level: rootSetUp } : {}
    yield { ...violation(node, object, fault), ...flipped(object, fault), ...level }
  }
  for (const { reason, ...where } of badProfiles(object, pod.annotations)) {
    yield violation(node, object, { path: where.path, standard: 'baseline', reason, allowed: 'runtime/default' })
  }
}

function* faultsOf(pod: Pod): Iterable<Fault> {
  const own = isInUserNamespace(pod.spec)
  yield* ask(pod.spec, pod.path, POD_TREE, own)
  for (const container of containersOf(pod)) {
    const faults = [...ask(container.node, container.path, CONTAINER_TREE, own)]
    const rootSetUp = isSetUp(container) && isOnlyRoot(faults) ? { rootSetUp: true as const } : {}
    for (const fault of faults) yield { ...fault, ...rootSetUp }
  }
}

/** A custom kind may keep pods, and parts of them, anywhere: each map is checked as if it were one. */
function* evaluateCustom({ object, node }: Subject): Iterable<Violation> {
  for (const { path, node: map } of everyMap(object.root)) {
    for (const fault of ask(map, path, ANY_TREE, false)) {
      yield { ...violation(node, object, fault), level: 'warning', severity: 'high' }
    }
  }
}

function* ask(holder: Node, base: Path, tree: RequirementTree, inUserNamespace: boolean): Iterable<Fault> {
  for (const { path, node, requirement } of askedOf(holder, tree)) {
    // the rule unrendered-variable reports what only the cluster knows
    const standard = node.type === 'scalar' && node.opaque ? undefined : requirement.breaks(node, inUserNamespace)
    if (standard) yield { path: [...base, ...path], standard, reason: requirement.reason, allowed: requirement.allowed }
  }
}

function violation(node: FleetNode, object: KubeObject, { path, standard, reason, allowed }: Fault): Violation {
  const value = wordOf(at(object.root, path))
  const answer =
    standard === 'unusual'
      ? `That is ${reason}. The API server accepts it.`
      : `Pod Security admission: violates PodSecurity "${standard}:latest": ${reason}.`
  return new Subject({ node, object }).violation(path, value, {
    message: message`${whoOf(object)} sets ${quoted('field', pointer(path))} to ${quoted('value', value)}. Allowed: ${untyped(allowed)}. ${untyped(answer)}`,
    fix:
      standard === 'unusual'
        ? message`Set ${quoted('field', pointer(path))} to ${untyped(allowed)}.`
        : message`Remove ${quoted('field', pointer(path))}, or set it to ${untyped(allowed)}.`,
    ...(standard === 'restricted' ? { profile: 'restricted', severity: 'high' } : {}),
    ...(standard === 'unusual' ? { level: 'warning', severity: 'low' } : {}),
  })
}

/** The fix of a switch is its opposite value. */
function flipped(object: KubeObject, { path, standard }: Fault): Pick<Violation, 'edit'> {
  const node = standard === 'unusual' ? undefined : at(object.root, path)
  if (node?.type !== 'scalar' || typeof node.value !== 'boolean') return {}
  return { edit: { set: node.value ? 'false' : 'true' } }
}

/** Of a hostPath its path; of another map only that it is there. */
function wordOf(node: Node | undefined): string {
  return textOf(node) ?? textOf(at(node, ['path'])) ?? 'set'
}

const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'
const SECCOMP = ['seccomp.security.alpha.kubernetes.io/pod', 'container.seccomp.security.alpha.kubernetes.io/']

/** An annotation of a pod that takes a profile away from its containers. */
interface ProfileAnnotation {
  readonly path: Path
  readonly value: string
  readonly reason: string
}

/** Annotations that name another profile than the runtime's own or one of the node. */
function* badProfiles(object: KubeObject, annotations: Path): Iterable<ProfileAnnotation> {
  for (const [key, node] of entriesOf(at(object.root, annotations))) {
    const reason = profileOf(key)
    const value = textOf(node) ?? ''
    if (reason === undefined || isFine(value)) continue
    yield { path: [...annotations, key], value, reason }
  }
}

function profileOf(key: string): string | undefined {
  if (key.startsWith(APPARMOR)) return 'forbidden AppArmor profile'
  return SECCOMP.some(name => key === name || (name.endsWith('/') && key.startsWith(name)))
    ? 'seccompProfile'
    : undefined
}

const isFine = (value: string) =>
  value === '' || value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')

/** What a container that prepares a volume as root says beside `runAsUser: 0`: nothing of it adds to what any container has. */
const OF_ROOT: ReadonlySet<string> = new Set(['runAsUser=0', 'runAsNonRoot != true', 'non-default capabilities'])

/**
 * Whether a container runs to its end before the others start: a sidecar (`restartPolicy: Always`) does not. Such a
 * container as root, to `chown` a volume, is allowed by the Pod Security Standard "baseline" and common in charts.
 */
function isSetUp({ path, node }: Container): boolean {
  return path.at(-2) === 'initContainers' && textOf(at(node, ['restartPolicy'])) !== 'Always'
}

/** Whether everything that a container breaks is that it runs as root, with the capabilities that containers have anyway. */
function isOnlyRoot(
  faults: readonly { readonly standard: Standard; readonly reason: PodRequirement['reason'] }[],
): boolean {
  return faults.every(({ standard, reason }) => standard === 'restricted' && OF_ROOT.has(reason))
}

/** The level that the fleet sets: none where it declares `baseline`, a warning where it declares no profile. */
function levelOfRootSetUp(config: FleetConfig, tenant: string): 'violation' | 'warning' | 'allowed' {
  const ofAll = config.profileDeclared ? config.profile : undefined
  const declared = memberSettings(config, tenant).map(one => one?.profile ?? ofAll)
  if (declared.includes('restricted')) return 'violation'
  return declared.includes(undefined) ? 'warning' : 'allowed'
}
