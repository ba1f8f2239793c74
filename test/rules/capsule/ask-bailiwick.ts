import { stringify } from 'yaml'
import { capsuleRbac } from '../../../src/fleet/facts/capsule.ts'
import { FleetIndex } from '../../../src/fleet/facts/fleet-index.ts'
import { objectsOn } from '../../../src/fleet/facts/object-index.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import type { Finding } from '../../../src/rules/model/finding.ts'
import { EvaluateSession } from '../../../src/verdict/evaluate-sides.ts'
import { treesOf } from '../../attacks/attack-case.ts'
import { buildTrees, evaluateBuilt } from '../../attacks/evaluate-trees.ts'
import { isNew } from '../../attacks/expectation.ts'
import type { World as FleetWorld } from '../../attacks/worlds/index.ts'
import { FLEET_URL, fleetFiles } from '../../fleet/mini-fleet.ts'
import { configurationOf, homeObjects, homeOf, type Plain, type Question, tenantObjects, type World } from './world.ts'

const LOCKDOWN = 'clusters/staging/flux-system/kustomization.yaml'

/** The same world with a version of Capsule as Bailiwick sees it. */
interface KnownFleet {
  /** The roles and bindings that Capsule makes there. */
  made(): KubeObject[]
  ask(question: Question): OurAnswer
}

/** What Bailiwick finds of the object of a question, and the Tenant that it counts the Namespace to. */
interface OurAnswer {
  readonly findings: readonly Finding[]
  readonly tenant: string | undefined
}

export function openFleet(world: World, version: string): KnownFleet {
  const session = new EvaluateSession()
  const base = buildTrees(treesOf(fleetOf(world, version)), undefined, session)
  return {
    made() {
      const index = new FleetIndex(base.fleet)
      return [...capsuleRbac(objectsOn(index, CLUSTER), index.capsuleNamespaces(CLUSTER))]
    },
    ask(question) {
      const head = buildTrees(treesOf(fleetOf(world, version, question)), base, session)
      const { violations, warnings } = evaluateBuilt(head, base, session).verdict
      const { kind, metadata } = question.object as { kind: string; metadata: { name: string } }
      const findings = [...violations, ...warnings].filter(
        one => isNew(one) && one.object.kind === kind && one.object.name === metadata.name,
      )
      return { findings, tenant: new FleetIndex(head.fleet).capsuleNamespaces(CLUSTER).get(metadata.name) }
    },
  }
}

const CLUSTER = 'staging'
const yaml = (objects: readonly Plain[]) => objects.map(one => stringify(one)).join('---\n')

function fleetOf(world: World, version: string, question?: Question): FleetWorld {
  const tenants = Object.keys(world.tenants)
  const platform = [...world.platform, configurationOf(world), deployment(version)]
  const files = {
    ...Object.fromEntries(Object.entries(fleetFiles).filter(([path]) => !path.startsWith('tenants/'))),
    [LOCKDOWN]: fleetFiles[LOCKDOWN]!.replace('service-account=default', 'service-account=gitops-reconciler'),
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, capsule.yaml, tenants.yaml]\n',
    'clusters/staging/capsule.yaml': yaml([kustomization('capsule', 'flux-system', 'flux-system', './capsule')]),
    'capsule/capsule.yaml': yaml(asked(platform, 'platform', question)),
    'tenants/tenants.yaml': yaml(
      tenants.flatMap(name => [
        ...homeObjects(world, name),
        repository(name),
        kustomization(name, homeOf(name), name, './deploy'),
      ]),
    ),
  }
  const own = tenants.map(name => ({
    name,
    url: urlOf(name),
    branch: 'main',
    files: { 'deploy/objects.yaml': yaml(asked(tenantObjects(world, name), name, question)) || '# none\n' },
  }))
  return { name: 'capsule', repositories: [{ name: 'fleet', url: FLEET_URL, branch: 'main', files }, ...own] }
}

/** The objects of someone with what a question adds, changes or deletes. */
function asked(objects: readonly Plain[], who: string, question: Question | undefined): readonly Plain[] {
  if (!question || question.as !== who) return objects
  const others = objects.filter(one => keyOf(one) !== keyOf(question.object))
  return question.isDeletion ? others : [...others, question.object]
}

const keyOf = ({ kind, metadata }: Plain) =>
  JSON.stringify([kind, (metadata as Plain).namespace, (metadata as Plain).name])
const urlOf = (tenant: string) => `https://github.com/acme/${tenant}`

const deployment = (version: string): Plain => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'capsule', namespace: 'capsule-system' },
  spec: {
    selector: { matchLabels: { app: 'capsule' } },
    template: {
      metadata: { labels: { app: 'capsule' } },
      spec: { containers: [{ name: 'manager', image: `ghcr.io/projectcapsule/capsule:v${version}` }] },
    },
  },
})

const repository = (name: string): Plain => ({
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'GitRepository',
  metadata: { name, namespace: homeOf(name) },
  spec: { interval: '1m', url: urlOf(name), ref: { branch: 'main' } },
})

const kustomization = (name: string, namespace: string, source: string, path: string): Plain => ({
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { name, namespace },
  spec: {
    serviceAccountName: namespace === 'flux-system' ? 'kustomize-controller' : 'gitops-reconciler',
    interval: '1m',
    sourceRef: { kind: 'GitRepository', name: source },
    path,
    prune: true,
  },
})
