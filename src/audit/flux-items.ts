import { assumedText } from '../facts/assumed-rbac.ts'
import { shown } from '../facts/shown.ts'
import { featureGate, flagMap, isOn } from '../fleet/lockdown/controller-flags.ts'
import {
  installedControllers,
  LOCKDOWN_FLAGS,
  type LockdownFlag,
  lockdownValue,
  WEAKENING_FLAGS,
} from '../fleet/lockdown/lockdown-flags.ts'
import type { FluxController, FluxInstallation } from '../fleet/model/fleet.ts'
import { originAt } from '../kube/node.ts'
import { type AuditItem, place } from './audit-item.ts'
import type { AuditedCluster } from './audited-cluster.ts'

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
