import { describe, expect, test } from 'vitest'
import { FLUX_KINDS, fluxKind, fluxVersions } from '../../src/kube/flux-kinds.ts'
import { resourceOf } from '../../src/kube/rbac/resources.ts'
import { CRD_FACTS } from './crd-facts.ts'

const words = (text: string) => text.split(' ').filter(Boolean)
/** An account there is for the cloud that a controller logs in to; objects are applied as nobody. */
const CLOUD_ACCOUNTS = [
  'GitRepository',
  'OCIRepository',
  'Bucket',
  'ImageRepository',
  'Provider',
  'ResourceSetInputProvider',
]
/** References of a namespace that are none to an object of somebody else. */
const NO_REFERENCES = [
  // pictures of the images and sources that are named, which are compared and not read
  'gitops.kluctl.io/KluctlDeployment spec.images.*',
  'gitops.kluctl.io/KluctlDeployment spec.images.*.object',
]

describe('the table of kinds says what the projects say', () => {
  test('of the same kinds', () => {
    expect(FLUX_KINDS.map(({ group, kind }) => `${group}/${kind}`).sort()).toEqual(
      CRD_FACTS.map(({ name }) => name).sort(),
    )
  })

  test.each(CRD_FACTS)('$name', facts => {
    const row = fluxKind(facts.name)!
    expect(row.plural).toBe(facts.plural)
    expect(resourceOf(`${row.group}/v1`, row.kind, new Map())).toBe(facts.plural)
    expect(row.shortNames ?? []).toEqual(words(facts.shortNames))
    expect(facts.scope).toBe('Namespaced')
    expect([...row.versions].sort()).toEqual(words(facts.versions).sort())
    const served = Object.entries(row.served ?? {}).map(([name, minors]) => `${name}:${minors.join('-')}`)
    expect(served).toEqual(words('served' in facts ? facts.served : ''))
    if (row.served) expect(fluxVersions(row)).toEqual(row.versions)
    expect(row.requires ?? '').toBe('requires' in facts ? facts.requires : '')
    if (!CLOUD_ACCOUNTS.includes(row.kind)) expect(row.applies !== undefined).toBe(facts.account)
    if (facts.kubeConfig) expect(row.applies).toBeDefined()
    expect(row.verify?.join('.') ?? '').toBe(facts.verify)
    const references = (row.references ?? []).map(({ path }) => path.join('.'))
    const named = words(facts.namespaces).filter(path => !NO_REFERENCES.includes(`${facts.name} ${path}`))
    expect(references).toEqual(expect.arrayContaining(named))
    const secrets = words(row.secrets ?? '').map(place => place.split(':')[0])
    expect(secrets).toEqual(expect.arrayContaining(words(facts.secrets)))
  })
})
