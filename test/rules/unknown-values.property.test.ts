// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type GoType, goTypeOf } from '../../src/flux/go-round-trip.ts'
import table from '../../src/flux/go-types.json' with { type: 'json' }
import type { Path } from '../../src/kube/node.ts'
import { isInert } from '../../src/rules/kustomize/unknown-values.ts'
import { evaluationOf, type Given } from '../fleet/fleet-of.ts'
import { miniFleet } from '../fleet/mini-fleet.ts'

/** The list said once more, as people would write it down: `<group>/<Kind> <path>`; a number is any place in a list. */
const ALLOWED = [
  /^\/ConfigMap (data|binaryData) [^ ]+$/,
  /^\/Secret (data|stringData) [^ ]+$/,
  /^\/Pod spec (containers|initContainers) 0 (env 0 value|args 0)$/,
  /^\/PodTemplate template spec (containers|initContainers) 0 (env 0 value|args 0)$/,
  /^(apps\/(Deployment|StatefulSet|DaemonSet|ReplicaSet)|\/ReplicationController|extensions\/(Deployment|DaemonSet|ReplicaSet)|batch\/Job) spec template spec (containers|initContainers) 0 (env 0 value|args 0)$/,
  /^batch\/CronJob spec jobTemplate spec template spec (containers|initContainers) 0 (env 0 value|args 0)$/,
]

interface Field {
  readonly apiVersion: string
  readonly kind: string
  readonly path: Path
}

const groupKind = ({ apiVersion, kind }: Field) => `${apiVersion.includes('/') ? apiVersion.split('/')[0] : ''}/${kind}`
const isAllowed = (field: Field) => ALLOWED.some(one => one.test(`${groupKind(field)} ${field.path.join(' ')}`))

/** Every field with a value of every kind that Kubernetes' own client has a type for; types inside of themselves once. */
const fields: readonly Field[] = Object.entries(table.kinds).flatMap(([apiVersion, list]) =>
  list.split(' ').flatMap(entry => {
    const kind = entry.split(':')[0]!
    const type = goTypeOf(apiVersion, kind)
    if (type === undefined || type === 'no-object') return []
    return [...leaves(type, [], [])].map(path => ({ apiVersion, kind, path }))
  }),
)

function* leaves(type: GoType, path: Path, above: readonly GoType[]): Generator<Path> {
  if (above.includes(type)) return
  if (type.type === 'pointer') yield* leaves(type.of, path, above)
  else if (type.type === 'list') yield* leaves(type.of, [...path, 0], above)
  else if (type.type === 'map') yield* leaves(type.of, [...path, 'key'], above)
  else if (type.type === 'struct') {
    for (const [name, { value }] of type.fields) yield* leaves(value, [...path, name], [...above, type])
  } else yield path
}

describe('where a value that a tenant controls may stand', () => {
  test('is this list, among all fields of the kinds of Kubernetes', () => {
    expect(fields.length).toBeGreaterThan(20_000)
    const wrong = fields.filter(field => isInert(groupKind(field), field.path) !== isAllowed(field))
    expect(wrong.map(field => `${groupKind(field)} ${field.path.join(' ')}`)).toEqual([])
    expect(new Set(fields.filter(isAllowed).map(groupKind)).size).toBe(14)
  })

  test('is nowhere in kinds that are not in it', () => {
    const step = fc.oneof(fc.constantFrom('spec', 'data', 'values', 'env', 'value', 'args', 'template'), fc.string())
    const path = fc.array(fc.oneof(step, fc.nat(3)), { minLength: 1, maxLength: 9 })
    const kind = fc.tuple(fc.domain(), fc.constantFrom('ConfigMap', 'Secret', 'Deployment', 'HelmRelease', 'Thing'))
    fc.assert(fc.property(kind, path, ([group, name], steps) => !isInert(`${group}/${name}`, ['spec', ...steps])))
  })

  test.each(['ALL', 'hostNetwork', 'privileged'])('a map below a note or a value is none: %s', key => {
    expect(isInert('/ConfigMap', ['data', 'a', key])).toBe(false)
    expect(isInert('apps/Deployment', ['metadata', 'annotations', 'checksum/a', key])).toBe(false)
    expect(isInert('apps/Deployment', ['metadata', 'labels', 'checksum/a'])).toBe(false)
  })

  test('and the gate says so of any of them', () => {
    const seen = { refused: 0, allowed: 0 }
    const some = fields.filter(({ path }) => !['apiVersion', 'kind', 'status'].includes(String(path[0])))
    const allowed = some.filter(isAllowed)
    const field = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...some) }, fc.constantFrom(...allowed))
    const evaluated = fc.property(field, one => {
      const { result, errors } = evaluationOf(given(objectWith(one))).verdict
      const isRefused = errors.some(({ code }) => code === 'unrendered-variable')
      seen[isRefused ? 'refused' : 'allowed']++
      if (isAllowed(one)) expect(isRefused).toBe(false)
      else expect(result, JSON.stringify(one)).not.toBe('pass')
    })
    fc.assert(evaluated, { numRuns: 150, seed: 7 })
    expect(seen.refused).toBeGreaterThan(50)
    expect(seen.allowed).toBeGreaterThan(10)
  })
})

function objectWith({ apiVersion, kind, path }: Field): unknown {
  const value = path.reduceRight<unknown>(
    (inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }),
    'a ${X}',
  ) as { metadata?: object }
  const metadata = { name: 'x', namespace: 'apps', ...value.metadata }
  return { apiVersion, kind, ...value, metadata }
}

/** dev-team with an object of which a Kustomization substitutes what the team encrypted. */
function given(object: unknown): Given {
  const encrypted =
    'ENC[AES256_GCM,data:c2VjcmV0,iv:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=,tag:AgICAgICAgICAgICAgICAg==,type:str]'
  const vars = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'vars', namespace: 'apps' },
    data: { X: encrypted },
    sops: { age: [{ recipient: 'age1dev', enc: 'x' }], mac: encrypted, version: '3.9.0' },
  }
  const more = {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'more', namespace: 'apps' },
    spec: {
      serviceAccountName: 'dev-team',
      interval: '5m',
      prune: true,
      sourceRef: { kind: 'GitRepository', name: 'dev-team' },
      path: './more',
      postBuild: { substituteFrom: [{ kind: 'Secret', name: 'vars' }] },
    },
  }
  const dev = {
    'deploy/kustomization.yaml': 'resources: [vars.yaml, more.yaml]\n',
    'deploy/vars.yaml': JSON.stringify(vars),
    'deploy/more.yaml': JSON.stringify(more),
    'more/kustomization.yaml': 'resources: [x.yaml]\n',
    'more/x.yaml': JSON.stringify(object),
  }
  return miniFleet({ dev })
}
