import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { toJson } from '../../../src/kube/node.ts'
import { findProgram, programs } from '../../repository/runner/programs.ts'
import { fleetOf } from '../fleet-of.ts'
import { fleetFiles, fleetRepositories } from './read-fleet.ts'

interface Rendered {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: {
    readonly path?: string
    readonly sourceRef: { readonly name: string }
    readonly serviceAccountName?: string
  }
}

const here = import.meta.dirname
const fluxRender = findProgram('flux-render')
const fluxKind = 'kustomize.toolkit.fluxcd.io/v1'

describe('our fleet', () => {
  test('every committed repository has files', () => {
    for (const repository of ['acme/fleet', 'acme/dev-team', 'acme/ops-team'] as const) {
      expect(Object.keys(fleetFiles(repository))).not.toEqual([])
      expect(Object.keys(fleetRepositories)).toContain(repository)
    }
  })

  test.for(['staging', 'production'])('%s has these parts, and each the identity that it should have', cluster => {
    const autoscaler = cluster === 'production' ? ['HorizontalPodAutoscaler apps/storefront'] : []
    expect(ours(cluster)).toEqual({
      'flux-system/flux-system': expect.arrayContaining([
        'as kustomize-controller',
        'Deployment flux-system/kustomize-controller',
      ]),
      'flux-system/infrastructure': [
        'as kustomize-controller',
        'CustomResourceDefinition widgets.example.acme.dev',
        'Namespace sandbox',
      ],
      'flux-system/sandbox-limits': [
        'as kustomize-controller',
        'ResourceQuota sandbox/ceiling',
        'LimitRange sandbox/container-defaults',
      ],
      'flux-system/tenants': [
        'as kustomize-controller',
        'Namespace apps',
        'ServiceAccount apps/dev-team',
        'RoleBinding apps/dev-team-reconciler',
        'GitRepository apps/dev-team',
        'Kustomization apps/dev-team',
      ],
      'apps/dev-team': [
        'as dev-team',
        'Deployment apps/storefront',
        'Service apps/storefront',
        'Widget apps/banner',
        'ConfigMap apps/storefront-settings-ccddtmmh89',
        ...autoscaler,
      ],
    })
  })

  test.for(['staging', 'production'])('Flux renders the same of %s', (cluster, { skip }) => {
    if (fluxRender === undefined) return skip(`no flux-render: ${programs['flux-render'].get}`)
    expect(walk(fluxRender, cluster)).toEqual(ours(cluster))
  })
})

/** What each Flux Kustomization of a cluster renders here. */
function ours(cluster: string): Record<string, string[]> {
  const { url } = fleetRepositories['acme/fleet']
  const dev = { url: fleetRepositories['acme/dev-team'].url, files: fleetFiles('acme/dev-team') }
  const { nodes } = fleetOf({ url, fleet: fleetFiles('acme/fleet'), sources: [dev] })
  return Object.fromEntries(
    nodes
      .filter(node => node.cluster === cluster)
      .map(node => [
        `${node.namespace}/${node.name}`,
        [
          `as ${node.identity.user.split(':').at(-1)}`,
          ...node.objects.map(({ root }) => titleOf(toJson(root) as unknown as Rendered)),
        ],
      ]),
  )
}

/** What each Flux Kustomization of a cluster renders, followed from the one that the bootstrap writes. */
function walk(program: string, cluster: string): Record<string, string[]> {
  const first = { name: 'flux-system', namespace: 'flux-system' }
  const root = {
    apiVersion: fluxKind,
    kind: 'Kustomization',
    metadata: first,
    spec: { path: `./clusters/${cluster}`, sourceRef: first },
  }
  const found: Record<string, string[]> = {}
  const next: Rendered[] = render(program, root).filter(isFlux)
  for (const node of next) {
    const key = `${node.metadata.namespace}/${node.metadata.name}`
    if (key in found) continue
    const objects = render(program, node)
    found[key] = [`as ${node.spec?.serviceAccountName}`, ...objects.map(titleOf)]
    next.push(...objects.filter(isFlux))
  }
  return found
}

const isFlux = (object: Rendered) => object.apiVersion === fluxKind && object.kind === 'Kustomization'
const titleOf = ({ kind, metadata }: Rendered) =>
  `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name}`

function render(program: string, kustomization: Rendered): Rendered[] {
  const repository = kustomization.spec?.sourceRef.name === 'dev-team' ? 'dev-team' : 'fleet'
  const request = { root: join(here, 'acme', repository), kustomization, strict: true, remoteBases: false }
  const line = execFileSync(program, { input: `${JSON.stringify(request)}\n`, encoding: 'utf8', stdio: 'pipe' })
  const answer = JSON.parse(line) as { objects?: Rendered[]; error?: string }
  if (!answer.objects) throw new Error(`${kustomization.metadata.name}: ${answer.error}`)
  return answer.objects
}
