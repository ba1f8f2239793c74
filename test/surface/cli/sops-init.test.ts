import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityToRecipient } from 'age-encryption'
import { beforeEach, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { findProgram } from '../../repository/runner/programs.ts'
import { repository, run, scratch, write } from './run-main.ts'

const TENANTS = 'clusters/staging/tenants.yaml'
let dir: string

beforeEach(() => {
  dir = scratch()
  repository(dir, fleetFiles('acme/fleet'), 'https://github.com/acme/fleet')
})

const init = (...args: string[]) => run(dir, 'sops', 'init', ...args)
const read = (path: string) => readFileSync(join(dir, path), 'utf8')
const identityIn = (secret: string) => /AGE-SECRET-KEY-1[0-9A-Z]+/.exec(secret)![0]

describe('the first key of a cluster', () => {
  test('the Secret is printed alone; the public half and the reference are in git', async () => {
    const before = read(TENANTS)
    const { code, stdout, stderr } = await init('--cluster', 'staging')
    expect([code, stderr]).toEqual([0, expect.stringContaining('edited .sops.yaml')])
    const secret = parse(stdout)
    expect(secret).toMatchObject({ kind: 'Secret', metadata: { name: 'sops-age', namespace: 'flux-system' } })
    const recipient = await identityToRecipient(identityIn(secret.stringData['age.agekey']))
    expect(parse(read('.sops.yaml')).creation_rules).toEqual([
      { path_regex: '^tenants/base/.*\\.yaml$', encrypted_regex: '^(data|stringData)$', age: recipient },
    ])
    const lines = '  decryption:\n    provider: sops\n    secretRef:\n      name: sops-age\n'
    expect(read(TENANTS)).toBe(before.replace('spec:\n', `spec:\n${lines}`))
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
    const holders = files.filter(({ parentPath, name }) =>
      readFileSync(join(parentPath, name), 'latin1').includes('AGE-SECRET-KEY'),
    )
    expect(holders).toEqual([])
  })

  test('a second time: refused, and nothing is printed', async () => {
    await init('--cluster', 'staging')
    const [config, tenants] = [read('.sops.yaml'), read(TENANTS)]
    const { code, stdout, stderr } = await init('--cluster', 'staging')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('decrypts already')
    expect([read('.sops.yaml'), read(TENANTS)]).toEqual([config, tenants])
  })

  test('another cluster: one recipient more in the same rule', async () => {
    const first = identityIn((await init('--cluster', 'staging')).stdout)
    const { stdout, stderr } = await init('--cluster', 'production')
    const recipients = [await identityToRecipient(first), await identityToRecipient(identityIn(stdout))]
    expect(parse(read('.sops.yaml')).creation_rules.map((rule: { age: string }) => rule.age)).toEqual([
      recipients.join(','),
    ])
    expect(stderr).toContain('sops updatekeys')
  })

  test('--key-file: only the owner can read it, and it is never replaced', async () => {
    const file = join(scratch(), 'key.yaml')
    const { code, stdout } = await init('--cluster', 'staging', '--key-file', file)
    expect([code, stdout.includes('AGE-SECRET-KEY')]).toEqual([0, false])
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    const kept = readFileSync(file, 'utf8')
    expect((await init('--cluster', 'production', '--key-file', file)).stderr).toContain('exists')
    expect(readFileSync(file, 'utf8')).toBe(kept)
    expect(read('clusters/production/tenants.yaml')).not.toContain('decryption')
  })

  test.each(['key.yaml', 'clusters/../key.yaml'])('--key-file %s is in the repository', async file => {
    const { code, stdout, stderr } = await init('--cluster', 'staging', '--key-file', file)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('where a private key would be committed')
    expect([existsSync(join(dir, 'key.yaml')), existsSync(join(dir, '.sops.yaml'))]).toEqual([false, false])
  })

  test('rules that are there stay; the new one comes last', async () => {
    writeFileSync(
      join(dir, '.sops.yaml'),
      `# ours\ncreation_rules:\n  - path_regex: ^infra/ # platform\n    age: ${AGE}\n`,
    )
    await init('--cluster', 'staging')
    const config = read('.sops.yaml')
    expect(config).toContain('# ours')
    expect(config).toContain('# platform')
    expect(parse(config).creation_rules.map((rule: { path_regex: string }) => rule.path_regex)).toEqual([
      '^infra/',
      '^tenants/base/.*\\.yaml$',
    ])
  })

  test.each([
    ['a list', `    age:\n      - ${'AGE'}\n`],
    ['a folded text', `    age: >-\n      ${'AGE'}\n`],
    ['a key group', `    key_groups:\n      - age:\n          - ${'AGE'}\n`],
    ['PGP alone', `    pgp: ${'A'.repeat(40)}\n`],
  ])('a rule with %s gets the recipient too', async (_name, fields) => {
    writeFileSync(join(dir, '.sops.yaml'), `creation_rules:\n  - path_regex: ^tenants/\n${fields.replace('AGE', AGE)}`)
    const { code, stdout } = await init('--cluster', 'staging')
    expect(code).toBe(0)
    expect(read('.sops.yaml')).toContain(await identityToRecipient(identityIn(stdout)))
    expect(parse(read('.sops.yaml')).creation_rules).toHaveLength(1)
  })

  test.each([
    ['KMS', 'creation_rules:\n  - kms: arn:aws:kms:eu:1:key/x\n', 'AWS KMS is needed'],
    ['no list', 'creation_rules: {}\n', 'creation_rules: is not a list'],
  ])('%s: refused before anything is made', async (_name, config, words) => {
    writeFileSync(join(dir, '.sops.yaml'), config)
    const { code, stdout, stderr } = await init('--cluster', 'staging')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(words)
    expect(read(TENANTS)).not.toContain('decryption')
  })

  test('a Kustomization in flow style: what to write by hand', async () => {
    const shared = read(TENANTS).replace(/spec:\n.*/s, flow)
    writeFileSync(join(dir, TENANTS), shared)
    const { code, stdout, stderr } = await init('--cluster', 'staging')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('cannot be edited line by line')
  })

  test.skipIf(!findProgram('sops'))('what the real sops encrypts by the rule, the printed key opens', async () => {
    const { stdout } = await init('--cluster', 'staging')
    write(dir, { 'tenants/base/x/s.yaml': 'kind: Secret\nstringData:\n  a: hidden\n' })
    const env = { HOME: dir, PATH: '' }
    const sops = findProgram('sops')!
    execFileSync(sops, ['encrypt', '--in-place', 'tenants/base/x/s.yaml'], { cwd: dir, env })
    const [sealed] = parseAllDocuments(read('tenants/base/x/s.yaml')).map(document => document.toJS())
    expect(sealed.stringData.a).toMatch(/^ENC\[/)
    const plain = execFileSync(sops, ['decrypt', 'tenants/base/x/s.yaml'], {
      cwd: dir,
      env: { ...env, SOPS_AGE_KEY: parse(stdout).stringData['age.agekey'] },
    })
    expect(parse(String(plain)).stringData.a).toBe('hidden')
  })
})

const AGE = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'
const flow = (spec: string) => `spec: ${JSON.stringify(parse(spec).spec)}\n`
