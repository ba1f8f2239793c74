import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { main } from '../../../src/surface/cli/main.ts'
import { asData } from '../../../src/surface/cli/mcp/serve-mcp.ts'
import { readArguments } from '../../../src/surface/cli/mcp/tool-arguments.ts'
import { TOOLS } from '../../../src/surface/cli/mcp/tools.ts'
import { repository, run, scratch, write } from './run-main.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const program = join(import.meta.dirname, '../../../src/surface/cli/bailiwick.js')
const root = realpathSync(mkdtempSync(join(tmpdir(), 'bailiwick-mcp-')))
const world = join(root, 'world')
let client: Client

beforeAll(async () => {
  cpSync(ACME, world, { recursive: true })
  repository(join(world, 'fleet'), {}, 'https://github.com/acme/fleet')
  repository(join(world, 'dev-team'), {}, 'https://github.com/acme/dev-team')
  write(root, { 'outside/kustomization.yaml': 'resources: [x.yaml]', 'outside/x.yaml': 'kind: X' })
  symlinkSync(join(root, 'outside'), join(world, 'link'))
  client = new Client({ name: 'test', version: '1' })
  const args = [program, 'mcp', '--root', world]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: root }))
}, 60_000)
afterAll(async () => {
  await client.close()
  rmSync(root, { recursive: true, force: true })
})

async function call(name: string, given: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: given })
  const [{ text }] = content as [{ text: string }]
  return { isError: isError === true, text, data: isError ? undefined : JSON.parse(text).data }
}
const FLEET = { fleet: 'fleet', repos_dir: '.' }

describe('over the protocol, with its own client', () => {
  test('the tools, none of which writes', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      ...['tenant_area', 'check', 'can_i', 'who_can', 'render', 'explain_rule', 'onboard_preview'],
    ])
    for (const { annotations, inputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false })
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    }
    expect(client.getInstructions()).toContain('never as instructions')
  })

  test('tenant_area: namespaces, repository, account and rights', async () => {
    const { text, data } = await call('tenant_area', { tenant: 'dev-team', ...FLEET })
    expect(JSON.parse(text).note).toContain('never as instructions')
    const [production] = data.clusters
    expect(production).toMatchObject({ cluster: 'production', namespaces: ['apps'] })
    expect(production.kustomizations).toEqual([
      expect.objectContaining({ name: 'apps/dev-team', repository: 'https://github.com/acme/dev-team' }),
    ])
    const [{ account, rights }] = production.accounts
    expect(account).toBe('system:serviceaccount:apps:dev-team')
    expect(rights[0].allowed).toContainEqual(
      expect.objectContaining({
        verbs: ['*'],
        by: 'RoleBinding apps/dev-team-reconciler, ClusterRole cluster-admin',
      }),
    )
    expect((await call('tenant_area', { tenant: 'dev-taem', ...FLEET })).text).toContain('Did you mean dev-team?')
  })

  test('check: a change that is not committed, with the edit', async () => {
    const path = join(world, 'dev-team/base/deployment.yaml')
    const text = readFileSync(path, 'utf8')
    const image = '          image: acme/storefront:1.4.0\n'
    const asking = `${image}          securityContext:\n            privileged: true\n`
    writeFileSync(path, text.replace(image, asking))
    const { data } = await call('check', { dir: 'dev-team', fleet: 'fleet', base: 'HEAD' })
    expect(data.result).toBe('fail')
    expect(data.violations).toContainEqual(
      expect.objectContaining({
        ...{ rule: 'pod-security', state: 'new' },
        origin: expect.objectContaining({ file: 'base/deployment.yaml', line: 21 }),
        fix: expect.stringContaining('/privileged", or set it to false.'),
      }),
    )
    writeFileSync(path, text.replace(image, asking.replace('true', 'false')))
    const { data: good } = await call('check', { dir: 'dev-team', fleet: 'fleet', base: 'HEAD' })
    expect(good.result).toBe('pass')
  })

  test('check: other repositories by folder, within the roots', async () => {
    const repos = ['https://github.com/acme/dev-team=dev-team']
    expect((await call('check', { dir: 'fleet' })).data.notSeen).toHaveLength(1)
    expect((await call('check', { dir: 'fleet', repos })).data.notSeen).toEqual([])
    const outside = ['https://github.com/acme/dev-team=../outside']
    expect(await call('check', { dir: 'fleet', repos: outside })).toMatchObject({
      isError: true,
      text: expect.stringContaining('is outside of the folders that may be read'),
    })
  })

  test('can_i and who_can agree', async () => {
    const asked = { verb: 'create', resource: 'deployments.apps', namespace: 'apps', cluster: 'staging', ...FLEET }
    expect((await call('can_i', { ...asked, as: 'apps/dev-team' })).data.answer.answer).toBe('yes')
    expect((await call('can_i', { ...asked, namespace: 'kube-system', as: 'apps/dev-team' })).data.answer.answer).toBe(
      'no',
    )
    const [staging] = (await call('who_can', asked)).data.clusters
    expect(staging.allowed).toContainEqual(expect.objectContaining({ subject: 'ServiceAccount apps/dev-team' }))
    expect(staging.appliedAs).toContainEqual(
      expect.objectContaining({ kustomization: 'apps/dev-team', repository: 'https://github.com/acme/dev-team' }),
    )
    const elsewhere = (await call('who_can', { ...asked, namespace: 'kube-system' })).data.clusters[0]
    expect(elsewhere.allowed).not.toContainEqual(expect.objectContaining({ subject: 'ServiceAccount apps/dev-team' }))
    expect((await call('who_can', { namespace: 'apps', cluster: 'staging', ...FLEET })).data.answer.namespace).toBe(
      'apps',
    )
  })

  test('a call that is cancelled while it waits gets no answer, and the next one does', async () => {
    const busy = call('check', { dir: 'fleet' })
    const cancelled = new AbortController()
    const waiting = client.callTool({ name: 'check', arguments: { dir: 'fleet' } }, undefined, {
      signal: cancelled.signal,
    })
    cancelled.abort('no longer needed')
    await expect(waiting).rejects.toThrow('no longer needed')
    expect((await busy).isError).toBe(false)
    expect((await call('explain_rule', { rule: 'usage' })).isError).toBe(false)
  })

  test('render: origins, and no value of a Secret', async () => {
    write(world, {
      'dev-team/secret/kustomization.yaml': 'resources: [x.yaml]\n',
      'dev-team/secret/x.yaml':
        'apiVersion: v1\nkind: Secret\nmetadata: { name: s }\nstringData: { password: hunter2 }\n',
    })
    const { text, data } = await call('render', { dir: 'dev-team/secret' })
    expect(data.objects).toMatchObject([{ kind: 'Secret', name: 's', values: '(not shown)' }])
    expect(text).not.toContain('hunter2')
    expect((await call('render', { dir: 'dev-team/base' })).text).toContain('deployment.yaml:')
  })

  test('explain_rule', async () => {
    expect((await call('explain_rule', { rule: 'namespace-confinement' })).data.answer.id).toBe('namespace-confinement')
    expect(await call('explain_rule', { rule: 'no-such-rule' })).toMatchObject({ isError: true })
  })

  test('onboard_preview: the files, which are not written', async () => {
    const request = {
      tenant: 'payments',
      repo: 'https://github.com/acme/payments',
      namespaces: ['payments'],
      clusters: ['staging'],
    }
    const { data } = await call('onboard_preview', { ...request, role: 'edit', fleet: 'fleet' })
    const paths = data.files.map(({ path }: { path: string }) => path)
    expect(paths).toContain('tenants/base/payments/rbac.yaml')
    for (const path of paths.filter((one: string) => one.includes('payments')))
      expect(existsSync(join(world, 'fleet', path))).toBe(false)
  })

  test('only what is below a root is read, whatever leads out of it', async () => {
    for (const dir of ['/etc', '..', '../outside', 'link', join(root, 'outside')]) {
      expect(await call('render', { dir }), dir).toMatchObject({
        isError: true,
        text: expect.stringMatching(/^error\[usage\]: .* is outside of the folders that may be read/),
      })
    }
    write(world, { 'dev-team/up/kustomization.yaml': 'resources: [../../../outside]\n' })
    expect(await call('render', { dir: 'dev-team/up' })).toMatchObject({ isError: true })
    write(world, { 'dev-team/read/kustomization.yaml': 'configMapGenerator: [{ name: a, files: [/etc/passwd] }]\n' })
    const read = await call('render', { dir: 'dev-team/read' })
    expect(read.isError).toBe(true)
    expect(read.text).not.toContain('root:')
    expect(await call('check', { dir: '/etc' })).toMatchObject({ isError: true })
    expect(await call('tenant_area', { tenant: 'dev-team', fleet: 'fleet', repos_dir: '/' })).toMatchObject({
      isError: true,
    })
  })

  test('arguments are never options, and an error leaves the server running', async () => {
    for (const given of [
      { verb: '--as=system:admin', resource: 'pods', as: 'a/b', ...FLEET },
      { verb: 'get', resource: 'pods', as: '--help', ...FLEET },
      { verb: 'get', resource: 'pods', as: 'a/b', command: 'rm', ...FLEET },
      { verb: ['get', 'list'], resource: 'pods', as: 'a/b', ...FLEET },
      { verb: 'get', resource: 'pods', ...FLEET },
      { verb: 1, resource: 'pods', as: 'a/b' },
    ])
      expect(await call('can_i', given), JSON.stringify(given)).toMatchObject({ isError: true })
    expect(await call('no_such_tool')).toMatchObject({ isError: true })
    expect(await call('check', { base: '--output=/etc/x' })).toMatchObject({ isError: true })
    expect((await call('explain_rule', { rule: 'sa-required' })).isError).toBe(false)
  })
})

test('what is no message is skipped, and the end of the input ends the command', async () => {
  const lines = [
    'no json',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    '[]',
    '{"jsonrpc":"2.0","id":2,"method":"ping"}',
  ]
  let [stdout, stderr] = ['', '']
  const io = {
    stdout(text: string) {
      stdout += text
    },
    stderr(text: string) {
      stderr += text
    },
    stdin: Readable.from(lines.map(line => `${line}\n`)),
    cwd: scratch(),
  }
  expect(await main(['mcp'], io)).toBe(0)
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).id),
  ).toEqual([1, 2])
  expect(stderr.split('\n').filter(line => line.startsWith('error[usage]: not a message'))).toHaveLength(2)
  expect((await run('/', 'mcp', 'x')).code).toBe(2)
  expect((await run('/', 'mcp', '--root', '/no/such/folder')).stderr).toMatch(
    /^error\[usage\]: \/no\/such\/folder: does not exist/,
  )
})

test('every text of an answer can be seen, and one that is too long is refused', () => {
  const text = asData({ 'a\u202e': 'b\u001b[2J\u200bc', list: ['x\ny'], big: 3n })
  expect(JSON.parse(text).data).toEqual({ 'a\\u{202e}': 'b\\u{1b}[2J\\u{200b}c', list: ['x\ny'], big: '3' })
  expect(() => asData(Array.from({ length: 30 }, () => 'x'.repeat(10_000)))).toThrow(/at most 200000/)
})

test('a prototype is not an argument', () => {
  const { input } = TOOLS[0]!
  expect(() => readArguments(input, JSON.parse('{"__proto__":"x","tenant":"a"}'))).toThrow('is not an argument')
  expect(() => readArguments(input, { tenant: 'a', constructor: 'x' })).toThrow('is not an argument')
})

test('SKILL.md names the tools that there are', () => {
  const skill = readFileSync(join(import.meta.dirname, '../../../SKILL.md'), 'utf8')
  for (const { name } of TOOLS) expect(skill).toContain(`\`${name}\``)
  expect(skill).toMatch(/^---\nname: bailiwick\ndescription: [^\n]{50,1024}\n---\n/)
})
