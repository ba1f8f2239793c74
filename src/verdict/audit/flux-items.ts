import { policyEngines } from '../../admission/policy-engines.ts'
import {
  featureGate,
  flagMap,
  installedControllers,
  isOn,
  LOCKDOWN_FLAGS,
  type LockdownFlag,
  lockdownValue,
  WEAKENING_FLAGS,
} from '../../fleet/bootstrap/lockdown.ts'
import { assumedText } from '../../fleet/facts/cluster-rights.ts'
import type { Rendered } from '../../fleet/facts/object-table.ts'
import { shown } from '../../fleet/facts/shown.ts'
import { type FleetNode, type FluxController, type FluxInstallation, nodesByKey } from '../../fleet/model/fleet.ts'
import { BUCKET, kindsThat } from '../../kube/flux-kinds.ts'
import { at, isTrue, originAt, stringAt } from '../../kube/node.ts'
import { groupOf, idOf } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import { type AuditedCluster, type AuditItem, fewNames, isPlatforms, place, unseenPart } from './audit-item.ts'

const FROM = {
  deployments: 'Flux is installed by Deployments of the fleet',
  patches: 'the fleet contains patches for Flux; `flux bootstrap` adds the Deployments',
  'flux-instance': 'Flux is installed by the Flux Operator from a FluxInstance of the fleet',
}

/** Gates that decide how much a tenant can do, and which way is the weak one. */
const GATES = [
  {
    name: 'StrictPostBuildSubstitutions',
    controller: 'kustomize-controller',
    weakWhen: false,
    why: 'an unset variable becomes an empty string instead of an error',
  },
  {
    name: 'AllowDNSLookups',
    controller: 'helm-controller',
    weakWhen: true,
    why: 'a chart can query DNS during rendering, and leak values in the queried names',
  },
  {
    name: 'ExternalArtifact',
    controller: 'kustomize-controller',
    weakWhen: true,
    why: 'everyone who can write an ExternalArtifact and its status can deploy content from outside any repository',
  },
]

/** Checks where Flux is installed from and the flags of its controllers. */
export function fluxItems({ cluster, nodes, index }: AuditedCluster): AuditItem[] {
  const { flux } = cluster.lockdown
  const assumed = assumedRights(flux, assumedText(index.assumedRbac(cluster.name)))
  if (!flux) return [notSeen(nodes[0]), ...assumed]
  return [installation(flux), ...assumed, ...flags(flux), ...weakenings(flux), ...keys(flux), ...gates(flux)]
}

function notSeen(root: AuditedCluster['nodes'][number] | undefined): AuditItem {
  return {
    check: 'installation',
    subject: '',
    state: 'unknown',
    message: root?.error
      ? `the root of the cluster cannot be rendered (${root.error.code}), so the settings of Flux are unknown`
      : 'the fleet contains neither Deployments of Flux nor a FluxInstance, so the flags of Flux are unknown',
    why: 'without these flags every tenant can have cluster-admin rights',
    fix: "Add the objects of Flux, or their patches, to the cluster's folder in the fleet.",
    ...(root ? { origin: place(originAt(root.kustomization.root, ['metadata', 'name'])) } : {}),
  }
}

function installation({ from, version, controllers }: FluxInstallation): AuditItem {
  const names = controllers.map(({ name }) => name).join(', ')
  const release = version === undefined ? 'unknown version' : `version ${shown(version)}`
  return {
    check: 'installation',
    subject: '',
    state: from === 'patches' || version === undefined ? 'unknown' : 'ok',
    message: `${FROM[from]}; ${release}; controllers: ${names}`,
    why: 'the flags and their effects depend on the version',
    fix: version === undefined ? 'Keep the gotk-components.yaml of `flux bootstrap` in the fleet.' : '',
    ...(from === 'deployments' && controllers[0] ? { origin: place(controllers[0].origin) } : {}),
  }
}

function assumedRights(flux: FluxInstallation | undefined, text: string | undefined): AuditItem[] {
  if (text === undefined) return []
  const isKnown = flux?.from === 'flux-instance' && flux.version !== undefined
  return [
    {
      check: 'flux-rbac',
      subject: '',
      state: isKnown ? 'ok' : 'unknown',
      message: text,
      why: 'the rights of accounts follow from these roles and bindings',
      fix: isKnown ? '' : 'Keep the gotk-components.yaml of `flux bootstrap` in the fleet.',
    },
  ]
}

function* flags(flux: FluxInstallation): Iterable<AuditItem> {
  const certain = new Set(installedControllers(flux))
  for (const flag of LOCKDOWN_FLAGS) {
    for (const name of flag.controllers) {
      const instances = flux.controllers.filter(one => (one.runs ?? one.name) === name)
      for (const one of instances) yield flagItem(flux, flag, one, certain.has(one.name))
    }
  }
}

function flagItem(
  { from }: FluxInstallation,
  flag: LockdownFlag,
  controller: FluxController,
  certain: boolean,
): AuditItem {
  const value = lockdownValue(flagMap(controller.flags), flag)
  const written = controller.flags.findLast(({ name }) => name === flag.name)
  const on = value !== ''
  const setting = flag.text ? `is ${shown(value)}` : 'is on'
  const origin = written?.origin ?? (from === 'deployments' ? controller.origin : undefined)
  return {
    check: flag.name,
    subject: controller.name,
    state: on ? 'ok' : certain ? 'weak' : 'unknown',
    message: `--${flag.name} of ${controller.name} ${on ? setting : 'is off'}${certain || on ? '' : ', if that controller is installed'}`,
    why: flag.why(controller.runs ?? controller.name, ''),
    fix: on
      ? ''
      : `Add --${flag.name}=${flag.text ? 'default' : 'true'} to the arguments of ${controller.name} by a patch.`,
    ...(origin ? { origin: place(origin) } : {}),
  }
}

function* weakenings({ controllers }: FluxInstallation): Iterable<AuditItem> {
  for (const controller of controllers) {
    for (const flag of controller.flags) {
      const why = WEAKENING_FLAGS.get(flag.name)
      if (!why || !isOn(flag.value)) continue
      yield {
        check: flag.name,
        subject: controller.name,
        state: 'weak',
        message: `--${flag.name} of ${controller.name} is on`,
        why,
        fix: `Remove --${flag.name}.`,
        origin: place(flag.origin),
      }
    }
  }
}

function* keys({ controllers }: FluxInstallation): Iterable<AuditItem> {
  const controller = controllers.find(({ name }) => name === 'kustomize-controller')
  if (!controller) return
  const flag = controller.flags.findLast(({ name, value }) => name === 'sops-age-secret' && value !== '')
  yield {
    check: 'sops-age-secret',
    subject: controller.name,
    state: flag ? 'weak' : 'ok',
    message: flag
      ? `--sops-age-secret is ${shown(flag.value)}: it decrypts for every Kustomization without a key of its own`
      : '--sops-age-secret is not set, so tenants do not share a decryption key',
    why: 'with a shared key, a tenant can copy the ciphertext of another tenant and have Flux decrypt it',
    fix: flag ? 'Give each tenant their own key in spec.decryption.secretRef, and remove the flag.' : '',
    ...(flag ? { origin: place(flag.origin) } : {}),
  }
}

function* gates({ controllers }: FluxInstallation): Iterable<AuditItem> {
  for (const { name, controller, weakWhen, why } of GATES) {
    const found = controllers.find(one => one.name === controller)
    const value = found && featureGate(flagMap(found.flags), name)
    if (!found || value === undefined) continue
    const flag = found.flags.findLast(one => one.name === 'feature-gates' && one.value.includes(name))
    const weak = value === weakWhen
    yield {
      check: 'feature-gates',
      subject: name,
      state: weak ? 'weak' : 'ok',
      message: `the feature gate ${name} of ${controller} is ${value ? 'on' : 'off'}`,
      why,
      fix: weak ? `Set ${name}=${String(!weakWhen)}, or leave it out.` : '',
      ...(flag ? { origin: place(flag.origin) } : {}),
    }
  }
}

const KINDS = kindsThat(row => row.source && row.address)
const SAFE = new Set(['https', 'ssh', 'oci'])

/** Finds remote bases, which are downloaded while a kustomization is built. */
export function* remoteBaseItems(audited: AuditedCluster): Iterable<AuditItem> {
  const common = {
    check: 'remote-bases',
    why: 'a remote base is downloaded during the build without a review, and can change at any time',
    fix: 'Copy the base into the repository, or declare a source for it.',
  }
  const found = audited.nodes.filter(({ error }) => error?.rule === 'kustomize-remote-base')
  for (const { namespace, name, error } of found) {
    const message = `Kustomization ${shown(`${namespace}/${name}`)} loads a remote base: ${shown(error?.message ?? '')}`
    const origin = error?.origin
    yield {
      ...common,
      subject: `${namespace}/${name}`,
      state: 'weak',
      message,
      ...(origin ? { origin: place(origin) } : {}),
    }
  }
  if (found.length > 0) return
  const unseen = unseenPart(audited, () => true)
  const message = `no remote bases found${unseen ? `, but ${unseen}` : ''}`
  yield { ...common, subject: '', state: unseen ? 'unknown' : 'ok', message, fix: '' }
}

/** Lists each host and organization that the cluster deploys from, with its protocol. */
export function sourceItems({ cluster, index }: AuditedCluster): AuditItem[] {
  const sources = KINDS.flatMap(kind => index.renderedAnywhere(cluster.name, kind).map(one => readSource(kind, one)))
  const groups = Map.groupBy(sources, ({ protocol, organisation }) => `${protocol} ${organisation}`)
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => groupItem(group))
}

interface Source {
  readonly name: string
  readonly protocol: string
  readonly organisation: string
  readonly insecure: boolean
  readonly origin: AuditItem['origin']
}

function readSource(kind: string, { object: { root } }: Rendered): Source {
  const isBucket = kind === BUCKET
  const path = ['spec', isBucket ? 'endpoint' : 'url']
  const written = stringAt(root, path) ?? ''
  const insecure = at(root, ['spec', 'insecure'])
  const isInsecure = isTrue(insecure)
  const scheme = /^([a-z][a-z0-9+.-]{0,20}):\/\//i.exec(written)?.[1]?.toLowerCase()
  const protocol = isBucket ? (isInsecure ? 'http' : 'https') : (scheme ?? 'unknown')
  return {
    name: `${kind.slice(kind.indexOf('/') + 1)} ${stringAt(root, ['metadata', 'namespace']) ?? ''}/${stringAt(root, ['metadata', 'name']) ?? ''}`,
    protocol,
    organisation: organisationOf(isBucket ? `https://${written}` : written),
    insecure: isInsecure,
    origin: place(originAt(root, path)),
  }
}

/** `github.com/acme` of `ssh://git@github.com/acme/fleet.git`. */
function organisationOf(url: string): string {
  const plain = normaliseUrl(url).replace(/^[a-z][a-z0-9+.-]{0,20}:\/\//i, '')
  const [host = '', first] = plain.slice(plain.indexOf('@') + 1).split('/')
  return first ? `${host}/${first}` : host
}

function groupItem(group: readonly Source[]): AuditItem {
  const { protocol, organisation } = group[0]!
  const insecure = group.find(one => one.insecure)
  const state =
    protocol === 'unknown' || organisation === '' ? 'unknown' : SAFE.has(protocol) && !insecure ? 'ok' : 'weak'
  const names = group.map(({ name }) => name).sort()
  const { origin } = insecure ?? group[0]!
  return {
    check: 'sources',
    subject: organisation,
    state,
    message: `${organisation || 'an unreadable address'} by ${protocol}${insecure ? ', without verifying the server' : ''}: ${fewNames(names.map(shown))}`,
    why: 'anyone who can write there or intercept the connection decides what the cluster runs',
    fix: state === 'ok' ? '' : 'Use https with certificate verification, or ssh.',
    ...(origin ? { origin } : {}),
  }
}

const KYVERNO = ['kyverno.io', 'policies.kyverno.io']
const GATEKEEPER = ['templates.gatekeeper.sh', 'constraints.gatekeeper.sh']
const KUBERNETES = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']

/**
 * Checks that tenant Kustomizations depend on the policies that apply to them, directly or through their parents.
 * Source: Flux's multi-tenancy example, "Reconciliation hierarchy".
 */
export function* policyItems({ nodes }: AuditedCluster): Iterable<AuditItem> {
  const byKey = nodesByKey(nodes)
  const isEntry = ({ tenant, parent }: FleetNode) =>
    tenant !== undefined && parent !== undefined && byKey.get(parent)?.tenant === undefined
  const entries = nodes.filter(isEntry).map(node => ({ node, before: comesBefore(node, byKey) }))
  for (const policies of nodes) {
    if (!isPlatforms(policies) || !policies.objects.some(object => isPolicy(idOf(object)))) continue
    const early = entries.filter(({ before }) => !before.has(policies.key)).map(({ node }) => node)
    const who = `Kustomization ${shown(`${policies.namespace}/${policies.name}`)}`
    const first = early[0]
    yield {
      check: 'policies-first',
      subject: `${policies.namespace}/${policies.name}`,
      state: first ? 'weak' : 'ok',
      message: first
        ? `${named(early)} can be applied before the policies of ${who}`
        : `tenants are applied after the policies of ${who}`,
      why: 'on a new cluster or after a failure, tenant objects applied before the policies are not checked by them',
      fix: first ? `Add ${shown(policies.name)} to spec.dependsOn of the Kustomization that declares the tenants.` : '',
      ...(first ? { origin: place(originAt(first.kustomization.root, ['spec', 'dependsOn'])) } : {}),
    }
  }
}

/** The Kustomizations that are ready before a node is applied: what it and those above it depend on, and what that needs. */
function comesBefore(node: FleetNode, byKey: ReadonlyMap<string, FleetNode>): ReadonlySet<string> {
  const before = new Set<string>()
  const above = new Set<string>()
  const queue = [node.key]
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    if (above.has(key)) continue
    above.add(key)
    const here = byKey.get(key)
    if (!here) continue
    // what brings an object was applied before it; so was what a node waits for
    for (const needed of here.dependsOn) before.add(needed)
    if (here.parent !== undefined) before.add(here.parent)
    queue.push(...here.dependsOn, ...(here.parent === undefined ? [] : [here.parent]))
  }
  return before
}

function isPolicy({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  const group = groupOf(apiVersion)
  if (policyEngines.some(({ kinds }) => kinds.includes(`${group}/${kind}`))) return true
  if (group === 'admissionregistration.k8s.io') return KUBERNETES.includes(kind)
  return (KYVERNO.includes(group) && kind.endsWith('Policy')) || GATEKEEPER.includes(group)
}

function named(nodes: readonly FleetNode[]): string {
  return fewNames(nodes.map(({ namespace, name }) => shown(`${namespace}/${name}`)).sort())
}
