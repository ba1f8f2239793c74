import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agePair, type Pair } from '../../flux/sops/real-sops.ts'
import { sealDocument } from '../../flux/sops/seal-document.ts'
import { repository, run, scratch } from './run-main.ts'

const config = (...pairs: readonly Pair[]) =>
  `creation_rules:\n  - path_regex: ^tenants/\n    age: ${pairs.map(one => one.recipient).join(',')}\n`

async function fleet() {
  const [old, next] = [await agePair(), await agePair()]
  const { stringify } = await import('yaml')
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { password: 'hunter2' } }
  const text = stringify(await sealDocument(secret, old.recipient))
  const dir = scratch()
  const files = {
    '.sops.yaml': config(next),
    'tenants/a.yaml': text,
    'other/b.yaml': text,
    'tenants/plain.yaml': 'a: b\n',
  }
  repository(dir, files, 'https://github.com/acme/fleet')
  const keys = join(scratch(), 'keys.txt')
  writeFileSync(keys, `# mine\n${old.secret}\n`)
  return { dir, keys, next, text, read: (path: string) => readFileSync(join(dir, path), 'utf8') }
}

test('files get the recipients that .sops.yaml names now; no key is printed', async () => {
  const { dir, keys, next, text, read } = await fleet()
  const ran = await run(dir, 'sops', 'updatekeys', '--age-key-file', keys)
  expect(ran.code).toBe(0)
  expect(ran.stdout).toBe('updated tenants/a.yaml\n2 encrypted files, 0 could not be updated\n')
  expect(ran.stderr).toBe('other/b.yaml: no creation rule matches, so the file was left unchanged\n')
  expect(read('tenants/a.yaml')).toContain(next.recipient)
  expect(read('other/b.yaml')).toBe(text)
  expect(ran.stdout + ran.stderr).not.toContain('AGE-SECRET-KEY')
  const again = await run('/', 'sops', 'updatekeys', dir, '--age-key-file', keys)
  expect(again).toMatchObject({ code: 0, stdout: '2 encrypted files, 0 could not be updated\n' })
})

test('a file that no key opens is left, and the exit code says so', async () => {
  const { dir, next, text, read } = await fleet()
  const keys = join(scratch(), 'other.txt')
  writeFileSync(keys, next.secret)
  const ran = await run(dir, 'sops', 'updatekeys', '--age-key-file', keys)
  expect(ran).toMatchObject({ code: 2, stdout: '2 encrypted files, 1 could not be updated\n' })
  expect(ran.stderr).toContain('tenants/a.yaml: no given key opens it')
  expect(read('tenants/a.yaml')).toBe(text)
})

test.each([
  ['options of init', ['--cluster', 'staging']],
  ['two directories', ['a', 'b']],
])('%s are refused', async (_, args) => {
  const { dir } = await fleet()
  expect(await run(dir, 'sops', 'updatekeys', ...args)).toMatchObject({ code: 2, stdout: '' })
})
