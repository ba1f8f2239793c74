import { expect, test } from 'vitest'
import { syncText } from '../fleet/clusters/sync-text.ts'
import { evaluationOf, type Files } from '../fleet/fleet-of.ts'

const SEALED =
  'ENC[AES256_GCM,data:c2VjcmV0,iv:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=,tag:AgICAgICAgICAgICAgICAg==,type:str]'

const secret = (...recipients: string[]) => `apiVersion: v1
kind: Secret
metadata: {name: admin, namespace: keycloak}
stringData:
  password: ${SEALED}
sops:
  age:
${recipients.map(recipient => `    - {recipient: ${recipient}, enc: x}\n`).join('')}  lastmodified: '2026-01-01T00:00:00Z'
  mac: ${SEALED}
  version: 3.9.0
  encrypted_regex: ^(data|stringData)$
`

/** A cluster with the Secret in a folder of its own. */
const cluster = (name: string, ...recipients: string[]) => ({
  [`clusters/${name}/flux-system/gotk-sync.yaml`]: `${syncText({ path: `./clusters/${name}` })}  decryption: {provider: sops, secretRef: {name: sops-age}}\n`,
  [`clusters/${name}/secrets/admin.yaml`]: secret(...recipients),
})

const rules = (after: Files, before: Files) =>
  evaluationOf({ fleet: after }, { base: { fleet: before } }).verdict.violations.map(({ rule }) => rule)

const prod = cluster('prod', 'age1prod')

test('a cluster that comes has keys of its own for what other clusters have under the same name', () => {
  expect(rules({ ...prod, ...cluster('staging', 'age1staging') }, prod)).toEqual([])
})

test.each<[what: string, after: Files]>([
  ['encrypted to one more where it is', cluster('prod', 'age1prod', 'age1evil')],
  [
    'moved within its cluster',
    {
      ...cluster('prod', 'age1evil'),
      'clusters/prod/secrets/admin.yaml': '',
      'clusters/prod/b.yaml': secret('age1evil'),
    },
  ],
  ['copied within its cluster', { ...prod, 'clusters/prod/b.yaml': secret('age1prod', 'age1evil') }],
  [
    'moved to another cluster',
    { ...prod, ...cluster('staging', 'age1evil'), 'clusters/prod/secrets/admin.yaml': '# gone\n' },
  ],
])('a Secret that is %s keeps its keys', (_what, after) => {
  expect(rules(after, prod)).toContain('sops-recipient')
})

test.each([[['staging']], [['prod']], [['prod', 'staging']]])(
  'what is found in a shared file is of the clusters that render it: %j',
  readers => {
    const overlay = (name: string) => ({
      [`clusters/${name}/kustomization.yaml`]: `resources: [flux-system${readers.includes(name) ? ', ../../base' : ''}]\n`,
    })
    const files = (...recipients: string[]) => ({
      '.sops.yaml': 'creation_rules: [{age: age1all}]\n',
      ...Object.fromEntries(
        Object.entries({ ...cluster('prod'), ...cluster('staging') }).filter(([path]) =>
          path.endsWith('gotk-sync.yaml'),
        ),
      ),
      ...overlay('prod'),
      ...overlay('staging'),
      'base/kustomization.yaml': 'resources: [admin.yaml]\n',
      'base/admin.yaml': secret(...recipients),
    })
    const { violations } = evaluationOf(
      { fleet: files('age1all', 'age1other') },
      { base: { fleet: files('age1all') } },
    ).verdict
    expect(violations.map(({ rule, cluster: where }) => `${rule} ${where}`).sort()).toEqual(
      readers.map(name => `sops-recipient ${name}`),
    )
  },
)
