import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { git, repository, write } from '../../surface/cli/run-main.ts'
import { built } from './built.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SCRIPT = join(import.meta.dirname, 'in-image.sh')
const which = (program: string) =>
  spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim() || undefined
const namespaces = process.getuid?.() === 0 ? '-m' : '-mr'
const lacking = ['npm', 'ldd', 'bash', 'git', `unshare && unshare ${namespaces} true`].find(one => !which(one))
const SYNC = 'tenants/base/dev-team/sync.yaml'
const WITHOUT_ACCOUNT = fleetFiles('acme/fleet')[SYNC]!.replace('  serviceAccountName: dev-team\n', '')

/** A root that has these programs at their paths, the libraries that they link to, and nothing else. */
function rootOf(root: string, programs: Readonly<Record<string, string>>): string {
  for (const folder of ['tmp', 'app', 'etc']) mkdirSync(join(root, folder), { recursive: true })
  for (const [path, from] of Object.entries(programs)) {
    const libraries = execFileSync('ldd', [from], { encoding: 'utf8' }).match(/\/\S+(?= \()/g) ?? []
    for (const [to, file] of [[path, from], ...libraries.map(one => [one, one])] as [string, string][]) {
      mkdirSync(dirname(join(root, to)), { recursive: true })
      cpSync(realpathSync(file), join(root, to))
    }
  }
  return root
}

describe.skipIf(lacking)(`in an empty root${lacking ? ` (no ${lacking})` : ''}`, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'bailiwick-bare-'))
  const [shared, npm] = [join(scratch, 'shared'), dirname(dirname(realpathSync(which('npm') ?? '/')))]
  const installed = join(shared, 'installed')
  const program = join(installed, 'node_modules/bailiwick/bailiwick.js')
  let withNode: string
  let withTools: string
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  const inRoot = (root: string, command: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    spawnSync(SCRIPT, [root, `${shared}:${npm}:${ROOT}`, ...command], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: '/tmp', IMAGE_PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
    })

  beforeAll(async () => {
    const node = { '/usr/local/bin/node': process.execPath }
    const tools = ['bash', 'sed', 'head', 'git'].map(name => [`/usr/bin/${name}`, which(name)!])
    withNode = rootOf(join(scratch, 'node'), node)
    withTools = rootOf(join(scratch, 'tools'), { ...node, ...Object.fromEntries(tools) })
    mkdirSync(installed, { recursive: true })
    writeFileSync(join(installed, 'package.json'), '{"name":"consumer","private":true}')
    const { folder } = await built()
    execFileSync('npm', ['pack', '--silent', '--pack-destination', shared, './dist'], { cwd: folder })
    write(join(shared, 'plain'), fleetFiles('acme/fleet'))
    repository(join(shared, 'fleet'), fleetFiles('acme/fleet'), 'https://github.com/acme/fleet')
    git(join(shared, 'fleet'), 'update-ref', 'refs/remotes/origin/main', 'HEAD')
  }, 240_000)

  test('with Node alone, the package installs, and `check` evaluates a folder', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const tarball = join(shared, `bailiwick-${version}.tgz`)
    const options = ['--offline', '--no-audit', '--no-fund', '--prefix', installed]
    const install = inRoot(withNode, ['node', join(npm, 'bin/npm-cli.js'), 'install', ...options, tarball])
    expect(install.status, install.stderr).toBe(0)
    expect(existsSync(join(withNode, 'bin/sh'))).toBe(false)
    const check = ['node', program, 'check', join(shared, 'plain'), '--url', 'https://github.com/acme/fleet']
    const passed = inRoot(withNode, check)
    expect([passed.status, passed.stderr]).toEqual([0, ''])
    expect(passed.stdout).toMatch(/^Passed\. \d+ of \d+ Kustomizations /m)
    write(join(shared, 'plain'), { [SYNC]: WITHOUT_ACCOUNT })
    const violated = inRoot(withNode, check)
    expect(violated.status).toBe(1)
    expect(violated.stdout).toContain('sa-required')
  }, 120_000)

  test('with Node alone, a working copy needs git, and the message says so', () => {
    const { status, stdout, stderr } = inRoot(withNode, ['node', program, 'check', join(shared, 'fleet')])
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      'error[git-missing]: git: cannot be started (spawn git ENOENT). Install git, and add it to PATH.\n',
    )
  })

  test('with bash, sed, head and git, the step of the Action writes annotations, a summary and SARIF', () => {
    const fleet = join(shared, 'fleet')
    const [output, summary, sarif] = ['output', 'summary', 'out.sarif'].map(name => join(shared, name)) as [
      string,
      string,
      string,
    ]
    const hostile = 'tenants/base/dev-team/$(touch hacked) ``` <img src=x>.yaml'
    const list = fleetFiles('acme/fleet')['tenants/base/dev-team/kustomization.yaml']!
    write(fleet, {
      [hostile]: WITHOUT_ACCOUNT,
      'tenants/base/dev-team/kustomization.yaml': list.replace('sync.yaml', `"${hostile.split('/').at(-1)}"`),
    })
    const { status, stdout, stderr } = inRoot(withTools, ['bash', join(ROOT, 'deploy/action/check.sh')], {
      ...{
        BAILIWICK_PROGRAM: program,
        INPUT_DIRECTORY: fleet,
        INPUT_BASE: '',
        INPUT_ARGUMENTS: '',
        INPUT_SARIF: sarif,
      },
      ...{ GITHUB_BASE_REF: 'main', GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary },
      // as the checkout of Actions configures it
      ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
    })
    expect([status, readFileSync(output, 'utf8')], stderr).toEqual([1, 'result=violations\n'])
    expect(stdout).toMatch(/^::error .*file=.*hacked.*,line=\d/m)
    expect(readFileSync(summary, 'utf8')).toMatch(/^### Bailiwick: violations\n\n {4}/)
    const { runs } = JSON.parse(readFileSync(sarif, 'utf8'))
    expect(runs[0].results.map((result: { ruleId: string }) => result.ruleId)).toContain('sa-required')
    expect(existsSync(join(fleet, 'hacked'))).toBe(false)
  }, 120_000)
})
