import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect, test } from 'vitest'
import type { CredentialEntry } from '../../../src/tenants/credential-entries.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { run, scratch, write } from './run-main.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const ARGS = [
  '--url',
  'https://github.com/acme/fleet',
  '--repo',
  `https://github.com/acme/dev-team=${join(ACME, 'dev-team')}`,
]
const BASE = 'tenants/base/dev-team'
const secret = (more: string) => `apiVersion: v1
kind: Secret
metadata:
  name: dev-team-auth
  namespace: apps
stringData:
  identity: ${more}
`

/** The acme fleet, whose tenant is read with a Secret. */
async function fleetWith(auth: string | undefined): Promise<string> {
  const files = fleetFiles('acme/fleet')
  const sync = files[`${BASE}/sync.yaml`]!
  const recipient = await identityToRecipient(await generateIdentity())
  return write(scratch(), {
    ...files,
    [`${BASE}/sync.yaml`]: sync.replace(
      /( {2})url: .*\n/,
      '$1url: ssh://git@github.com/acme/dev-team\n  secretRef:\n    name: dev-team-auth\n',
    ),
    '.sops.yaml': `creation_rules:\n  - age: ${recipient}\n`,
    ...(auth === undefined
      ? {}
      : {
          [`${BASE}/auth.yaml`]: auth,
          [`${BASE}/kustomization.yaml`]: `${files[`${BASE}/kustomization.yaml`]}  - auth.yaml\n`,
        }),
  })
}

async function entriesOf(directory: string): Promise<readonly CredentialEntry[]> {
  const { code, stdout, stderr } = await run(directory, 'credentials', '.', ...ARGS, '-o', 'json')
  expect([code, stderr]).toEqual([0, ''])
  return (JSON.parse(stdout) as { entries: CredentialEntry[] }).entries
}

test('a fleet whose sources are read without credentials', async () => {
  const { code, stdout } = await run(join(ACME, 'fleet'), 'credentials', '.', ...ARGS)
  expect(code).toBe(0)
  expect(stdout).toContain('only the App can list them')
})

test('a Secret in clear is named with its line, its value is not', async () => {
  const directory = await fleetWith(secret('hunter2hunter2hunter2'))
  const entries = await entriesOf(directory)
  expect(entries.map(({ kind }) => kind)).toEqual(['in-clear', 'not-visible'])
  expect(entries[0]).toMatchObject({ subject: 'Secret apps/dev-team-auth', file: `${BASE}/auth.yaml`, line: 1 })
  expect((await run(directory, 'credentials', '.', ...ARGS)).stdout).not.toContain('hunter2')
})

test('a Secret that only clusters have is not visible, for each cluster', async () => {
  const notes = (await entriesOf(await fleetWith(undefined))).map(({ note }) => note)
  expect(notes.filter(note => note.includes('git does not have it'))).toHaveLength(2)
})

test('a file that is sealed for others, and one for a service', async () => {
  const enc =
    'ENC[AES256_GCM,data:aGk=,iv:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=,tag:MDEyMzQ1Njc4OTAxMjM0NQ==,type:str]'
  const block = `sops:
    age:
        - enc: x
          recipient: age1old
    kms:
        - arn: arn:aws:kms:eu:1:key/x
          enc: x
    mac: ${enc}
    version: 3.13.3
`
  const directory = await fleetWith(`${secret(enc)}${block}`)
  const entries = await entriesOf(directory)
  expect(entries.map(({ kind }) => kind)).toEqual(['other-recipients', 'not-visible', 'not-visible'])
  expect(entries[0]!.note).toMatch(
    /^age:age1old, kms:\S+ can open it .* cannot open it although \.sops\.yaml lists them$/,
  )
  expect(entries.some(({ note }) => note.startsWith('kms:arn:aws:kms:eu:1:key/x: who may use this key'))).toBe(true)
  const { stdout } = await run(directory, 'credentials', '.', ...ARGS)
  expect(stdout).toContain(`sops updatekeys --yes ${BASE}/auth.yaml`)
})

test('bad usage', async () => {
  expect((await run(ACME, 'credentials', 'fleet', 'more')).code).toBe(2)
  expect((await run(ACME, 'credentials', 'fleet', '-o', 'yaml')).stderr).toContain('Allowed: text, json')
})
