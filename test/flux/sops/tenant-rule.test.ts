import { describe, expect, test } from 'vitest'
import { creationRuleFor } from '../../../src/flux/sops/creation-rule.ts'
import { addTenantRule } from '../../../src/flux/sops/edit-creation-rules.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import { findProgram } from '../../repository/runner/programs.ts'
import { agePair, pgpPair, SopsFolder } from './real-sops.ts'

const FOLDER = 'tenants/base/web.team'
const FILE = `${FOLDER}/auth.yaml`
const [cluster, other] = [await agePair(), await agePair()]

const edited = (config: string, path = '.sops.yaml') => addTenantRule(treeOf({ [path]: config }), FOLDER, FILE)

const GENERAL = `# who reads what
creation_rules:
  # one file of the platform
  - path_regex: ^platform/
    age: ${other.recipient}
  # everything else, until the audit
  - age: >-
      ${cluster.recipient}
    encrypted_regex: ^(data|stringData)$ # as Flux needs it
stores:
  yaml: {indent: 2}
`

test('the rule of a tenant stands before the one that matched, and every other character stays', async () => {
  const { path, content } = (await edited(GENERAL))!
  const rule = `  - path_regex: '^tenants/base/web\\.team/.*\\.ya?ml$'
    encrypted_regex: '^(data|stringData)$'
    age: ${cluster.recipient}
`
  const at = GENERAL.indexOf('  # everything else')
  expect([path, content]).toEqual(['.sops.yaml', `${GENERAL.slice(0, at)}${rule}${GENERAL.slice(at)}`])
  // once more: it is there
  expect(await edited(content)).toBeUndefined()
})

test('the first rule that matches counts: others keep theirs', async () => {
  const { content } = (await edited(GENERAL))!
  const tree = treeOf({ '.sops.yaml': content })
  const of = async (path: string) => (await creationRuleFor(tree, path)).recipients.map(({ text }) => text)
  expect(await of(FILE)).toEqual([cluster.recipient])
  // the dot is no wildcard, and a name that begins alike is another one
  for (const folder of ['tenants/base/webxteam', 'tenants/base/web.team-2', 'x/tenants/base/web.team']) {
    expect(await of(`${folder}/auth.yaml`)).toEqual([cluster.recipient])
  }
  expect(await of('platform/x.yaml')).toEqual([other.recipient])
})

test('the rule matches no more than the one behind it', async () => {
  const config = `creation_rules:\n  - path_regex: .*.yaml\n    age: ${cluster.recipient}\n`
  expect((await edited(config))!.content).toContain("path_regex: '^tenants/base/web\\.team/.*\\.yaml$'")
})

describe('a .sops.yaml', () => {
  test('in a folder above the tenants: the pattern begins there', async () => {
    const { path, content } = (await edited(GENERAL, 'tenants/.sops.yaml'))!
    expect(path).toBe('tenants/.sops.yaml')
    expect(content).toContain("path_regex: '^base/web\\.team/")
  })

  test.each([
    ['in one line', `creation_rules: [{age: ${cluster.recipient}}]\n`],
    ['with its rule below the dash', `creation_rules:\n  -\n    age: ${cluster.recipient}\n`],
    [
      'with a rule that matches other files of the folder not',
      `creation_rules:\n  - path_regex: auth\n    age: ${cluster.recipient}\n`,
    ],
    ['with a group of recipients', `creation_rules:\n  - key_groups:\n      - age: [${cluster.recipient}]\n`],
    ['without a rule that matches', `creation_rules:\n  - path_regex: ^x/\n    age: ${cluster.recipient}\n`],
  ])('%s is not written anew', async (_, config) => {
    await expect(edited(config)).rejects.toMatchObject({ code: 'sops-config' })
  })
})

test.skipIf(!findProgram('sops'))('the real sops encrypts by it for the same recipients as by the other', async () => {
  const pgp = await pgpPair()
  const config = GENERAL.replace('    encrypted_regex', `    pgp: ${pgp.recipient}\n    encrypted_regex`)
  const { content } = (await edited(config))!
  const folder = new SopsFolder()
  const secret = 'kind: Secret\napiVersion: v1\nmetadata: {name: a}\nstringData: {key: value}\n'
  folder.write('.sops.yaml', content)
  folder.write(FILE, secret)
  folder.write('tenants/base/other/auth.yaml', secret)
  const own = await folder.run(['encrypt', FILE], [cluster, pgp])
  const others = await folder.run(['encrypt', 'tenants/base/other/auth.yaml'], [cluster, pgp])
  folder.write(FILE, own)
  folder.write('tenants/base/other/auth.yaml', others)
  for (const key of [cluster, pgp]) expect(await folder.run(['decrypt', FILE], [key])).toContain('key: value')
  await expect(folder.run(['decrypt', FILE], [other])).rejects.toThrow('data key')
  expect(own).toContain('kind: Secret')
})
