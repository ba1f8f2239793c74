import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkRunOf } from '../../../src/report/check-run.ts'
import { commentOf } from '../../../src/report/comment.ts'
import { changesOf } from '../../../src/verdict/diff/changes-of.ts'
import { evaluationOf, fleetOf, type Given } from '../../fleet/fleet-of.ts'
import { DEV_URL, FLEET_URL, fleetFiles, miniFleet, withResource } from '../../fleet/mini-fleet.ts'

/** Everything that is said of a change on the fleet's own repository, where nothing is hidden for privacy. */
function saidOf(base: Given, head: Given): string {
  const changes = changesOf(fleetOf(base), fleetOf(head))
  const { verdict } = evaluationOf(head, { base })
  const context = { kind: 'pull-request', repository: FLEET_URL, headSha: 'a'.repeat(40), changes } as const
  return [JSON.stringify(changes), JSON.stringify(checkRunOf(verdict, context)), commentOf(verdict, context)].join('\n')
}

const OLD = 'hunter2-hunter2-old'
const NEW = 'correct.horse.battery'
const base64 = (text: string) => Buffer.from(text).toString('base64')
const NAME = 'metadata: {name: x, namespace: apps}\n'
const secret = (body: string, name = 'x') =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: apps}\n${body}`
const configMap = (data: object) => `apiVersion: v1\nkind: ConfigMap\n${NAME}data: ${JSON.stringify(data)}\n`
const pod = (body: string) => `apiVersion: v1\nkind: Pod\n${NAME}spec: {containers: [{name: x, ${body}}]}\n`
const pem = (value: string) => `-----BEGIN PRIVATE KEY-----\n${value}\n-----END PRIVATE KEY-----\n`

/** Where a secret stands, of which only another value comes in its place. */
const PLACES: Readonly<Record<string, (value: string) => string>> = {
  'stringData of a Secret': value => secret(`stringData: {password: ${value}}\n`),
  'data of a Secret': value => secret(`data: {password: ${base64(value)}}\n`),
  'a Secret that is not one': value => secret(`stringData: [${value}]\n`),
  'a map in the place of a value': value => secret(`stringData: {password: {deep: {${value}: ${value}}}}\n`),
  'an annotation that repeats a value': value =>
    `${secret(`stringData: {password: ${value}}\n`)}---\n${configMap({ copy: `user:${value}@host` })}`,
  'a last-applied-configuration': value =>
    `apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\n  namespace: apps\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{"data":{"password":"${value}"}}'\n`,
  'an encrypted Secret': value =>
    secret(`data: {password: 'ENC[AES256_GCM,data:${value},iv:a,tag:b,type:str]'}\nsops: {mac: 'ENC[${value}]'}\n`),
  'a sealed Secret': value =>
    `apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\n${NAME}spec: {encryptedData: {password: ${value}}}\n`,
  'a Secret inside of another object': value =>
    `apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\n${NAME}spec: {serviceAccountName: dev-team, resources: [{apiVersion: v1, kind: Secret, metadata: {name: y}, stringData: {password: ${value}}}]}\n`,
  'an environment': value => pod(`env: [{name: DB_PASSWORD, value: ${value}}]`),
  'an argument': value => pod(`args: ["--token=${value}"]`),
  'an address': value => pod(`args: ["https://user:${value}@example.com/"]`),
  'values of a chart': value =>
    `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n${NAME}spec: {serviceAccountName: dev-team, chartRef: {kind: OCIRepository, name: x}, values: {auth: {password: ${value}}}}\n`,
  'a key of a ConfigMap': value => configMap({ DB_PASSWORD: value }),
  'a line of a text': value => configMap({ conf: `a=1\npassword=${value}\nb=2\n` }),
  'a private key': value => configMap({ conf: pem(value) }),
  'a private key with another one behind': value => configMap({ conf: `${pem('same')}${pem(value)}` }),
  'a variable of a file': value => configMap({ conf: `a=1\nDB_PASSWORD=${value}\nb=2\n` }),
  'a name in camel case': value => configMap({ conf: `a: 1\nclientSecret:      ${value}\nb: 2\n` }),
  'a password of several words': value => configMap({ conf: `a: 1\npassword: two, words ${value}\nb: 2\n` }),
  'a block of YAML': value => configMap({ conf: `a: 1\ndbPassword: |-\n  ${value}\n\n  ${value}\nb: 2\n` }),
  'a value on the next line': value => configMap({ conf: `a: 1\n  token:\n    ${value}\nb: 2\n` }),
  'a private key in a block of YAML': value =>
    configMap({ conf: `a: 1\nb: |\n  ${pem(value).replaceAll('\n', '\n  ')}\nc: 2\n` }),
  'a header': value => configMap({ conf: `a: 1\nAuthorization: Bearer ${value}\nb: 2\n` }),
  'a login of a registry': value => configMap({ conf: JSON.stringify({ auths: { a: { auth: base64(value) } } }) }),
  'JSON inside of JSON': value => configMap({ conf: JSON.stringify({ a: JSON.stringify({ password: value }) }) }),
  'an address whose password has an at sign': value => configMap({ url: `postgres://u:a@${value}@db/x` }),
  'an argument behind its name': value => pod(`command: ["sh", "-c", "run --db-password ${value} --other x"]`),
  'a Secret as text': value =>
    configMap({ conf: `kind: Secret\napiVersion: v1\ndata:\n  a: ${base64(value)}\nstringData:\n  b: ${value}\n` }),
  'a client key of a kubeconfig': value =>
    configMap({ conf: `users:\n- user:\n    client-key-data: ${base64(pem(value))}\n    name: a\n` }),
  'a signed address': value => configMap({ url: `https://a.example/x?sig=${value}&a=1` }),
  'a value of several lines': value => secret(`stringData: {password: "a\\n${value}\\nb"}\n`),
}

const leaks = (value: string) => [value, base64(value), hash('sha256', value).slice(0, 12), value.slice(0, 12)]

describe.each(Object.entries(PLACES))('%s', (_name, at) => {
  const [base, head] = [OLD, NEW].map(value => miniFleet({ dev: withResource(at(value)) })) as [Given, Given]
  const none = miniFleet()

  test.each([
    ['changed', base, head],
    ['added', none, head],
    ['removed', base, none],
  ])('%s: no value is told', (_what, before, after) => {
    const said = saidOf(before, after)
    for (const leak of [...leaks(OLD), ...leaks(NEW)]) expect(said).not.toContain(leak)
  })

  test('that it changed is told, but where Flux drops it', () => {
    const { nodes } = changesOf(fleetOf(base), fleetOf(head))
    expect(nodes.length > 0).toBe(!/last-applied/.test(at('')))
  })
})

describe('a Secret that a Kustomization substitutes from', () => {
  const substituting = (value: string): Given => ({
    ...miniFleet({
      fleet: {
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, secret.yaml]\n',
        'tenants/secret.yaml': secret(`data: {pin: ${base64(value)}}\n`, 'vars'),
        'tenants/dev-team.yaml': `${fleetFiles['tenants/dev-team.yaml']}  postBuild: {substituteFrom: [{kind: Secret, name: vars}]}\n`,
      },
      dev: withResource(configMap({ url: 'pin-$' + '{pin}-pin' })),
    }),
  })

  test('shows its values nowhere, where they are put into other objects', () => {
    const said = saidOf(substituting(OLD), substituting(NEW))
    expect(said).toContain('data.url')
    for (const leak of [...leaks(OLD), ...leaks(NEW)]) expect(said).not.toContain(leak)
  })
})

describe('a generated Secret', () => {
  const generated = (value: string) =>
    miniFleet({
      dev: {
        'deploy/kustomization.yaml': `namespace: apps\nresources: [web.yaml, pod.yaml]\nsecretGenerator: [{name: login, literals: [password=${value}]}]\n`,
        'deploy/pod.yaml': pod('envFrom: [{secretRef: {name: login}}]'),
      },
    })

  test('is one that changed, and its name tells no hash of what it holds', () => {
    const [base, head] = [generated(OLD), generated(NEW)]
    const changes = changesOf(fleetOf(base), fleetOf(head))
    const objects = changes.nodes.flatMap(node => node.objects)
    expect(objects.map(({ id, change }) => `${change} ${id.kind} ${id.name}`)).toEqual([
      'replaced Pod x',
      'changed Secret login-*',
    ])
    const names = [base, head]
      .flatMap(given => fleetOf(given).nodes.flatMap(node => node.objects))
      .flatMap(object => {
        const metadata = object.root.fields.get('metadata')?.value
        const name = metadata?.type === 'map' ? metadata.fields.get('name')?.value : undefined
        return name?.type === 'scalar' && /^login-/.test(String(name.value)) ? [String(name.value)] : []
      })
    expect(new Set(names).size).toBe(2)
    for (const name of names) expect(JSON.stringify(changes)).not.toContain(name)
  })
})

test('no value of any Secret is told, nor how long it is', () => {
  const value = fc.stringMatching(/^[A-Za-z0-9]{12,40}$/)
  fc.assert(
    fc.property(value, value, (one, other) => {
      fc.pre(one !== other && one.length !== other.length)
      const given = (text: string) =>
        miniFleet({
          dev: withResource(`${secret(`stringData: {k: '${text}'}\n`)}---\n${configMap({ a: `x ${text} y` })}`),
        })
      const changes = changesOf(fleetOf(given(one)), fleetOf(given(other)))
      const again = changesOf(fleetOf(given(other)), fleetOf(given(one)))
      const said = JSON.stringify(changes)
      for (const leak of [one, other, base64(one), base64(other)]) expect(said).not.toContain(leak)
      // nothing that depends on either value is in it
      expect(said).toBe(JSON.stringify(again))
    }),
    { numRuns: 40 },
  )
})

test('the tenant whose repository it is has its Secrets hidden as well', () => {
  const [base, head] = [OLD, NEW].map(value =>
    miniFleet({ dev: withResource(PLACES['stringData of a Secret']!(value)) }),
  ) as [Given, Given]
  const changes = changesOf(fleetOf(base), fleetOf(head))
  const { verdict } = evaluationOf(head, { base, changed: DEV_URL })
  const text = commentOf(verdict, {
    kind: 'pull-request',
    repository: DEV_URL,
    headSha: 'a',
    audience: ['dev-team'],
    changes,
  })
  expect(text).toContain('!  data.password: changed, not shown')
})
