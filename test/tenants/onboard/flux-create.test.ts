import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseOnboardArguments } from '../../../src/tenants/onboard/parse-command.ts'
import {
  accountOf,
  clusterRoleOf,
  keySecretOf,
  type OnboardRequest,
  secretOf,
  sourceAddress,
} from '../../../src/tenants/onboard/request.ts'
import { syncManifest, tenantManifest } from '../../../src/tenants/onboard/tenant-files.ts'
import { findFlux } from '../../../tools/envtest/flux-assets.ts'

const flux = findFlux()
const run = (...args: readonly string[]) =>
  execFileSync(flux!.cli, ['create', ...args, '--export'], { encoding: 'utf8' })

const SUBJECT = /^- kind: ServiceAccount\n {2}name: .*\n {2}namespace: .*\n/gm

/** Beyond `flux create tenant`, the account of the first namespace, which the Kustomization has, is bound in the others. */
function withSubjects(text: string): string {
  const first = text.match(SUBJECT)![0]
  return text.replace(SUBJECT, subject => (subject === first ? subject : subject + first))
}

/** What the real program prints for a request. */
function exported(request: OnboardRequest): string {
  const { tenant, namespaces, url, ref, branch, interval, prune = true, wait, timeout, access, decryption } = request
  const where = [`--namespace=${namespaces[0]}`, ...(interval === undefined ? [] : [`--interval=${interval}`])]
  const secret = secretOf(request)
  const isOci = url.startsWith('oci://')
  const options = { tag: '--tag', semver: '--tag-semver', commit: '--commit', digest: '--digest' }
  const account = accountOf(request)
  return [
    withSubjects(
      run(
        ...['tenant', tenant, ...namespaces.map(name => `--with-namespace=${name}`)],
        ...[`--cluster-role=${clusterRoleOf(request)}`, `--with-service-account=${account}`],
      ),
    ),
    run(
      ...['source', isOci ? 'oci' : 'git', tenant, ...where, `--url=${sourceAddress(request)}`],
      ref ? `${options[ref.field]}=${ref.value}` : `--branch=${branch}`,
      ...(secret === undefined ? [] : [`--secret-ref=${secret}`]),
      ...(access === 'github-app' ? ['--provider=github'] : []),
    ),
    run(
      ...['kustomization', tenant, ...where, `--source=${isOci ? 'OCIRepository/' : ''}${tenant}`],
      ...[`--prune=${prune}`, `--service-account=${accountOf(request)}`],
      ...(wait === undefined ? [] : [`--wait=${wait}`]),
      ...(timeout === undefined ? [] : [`--health-check-timeout=${timeout}`]),
      ...(decryption === undefined
        ? []
        : [`--decryption-provider=sops`, `--decryption-secret=${keySecretOf(request)}`]),
    ),
  ].join('')
}

const HTTPS = 'https://github.com/acme/ops-team'
const BASE = ['ops-team', '--namespace', 'ops', '--cluster', 'staging']
const COMMIT = '0123456789012345678901234567890123456789'

describe.skipIf(!flux)('what the flux CLI exports, byte for byte', () => {
  test.each<[string, readonly string[]]>([
    ['a branch', ['--repo', HTTPS]],
    ['a branch that is a number', ['--repo', HTTPS, '--branch', '1.10']],
    ['a tag', ['--repo', HTTPS, '--tag', 'v1.2.3']],
    ['a range', ['--repo', HTTPS, '--semver', '>=1.2.0,<2.0.0']],
    ['any version', ['--repo', HTTPS, '--semver', '*']],
    ['a commit of digits', ['--repo', HTTPS, '--commit', COMMIT]],
    ['names that YAML 1.1 takes for booleans', ['--repo', HTTPS, '--namespace', 'on', '--service-account', 'no']],
    ['a role', ['--repo', HTTPS, '--role', 'edit']],
    ['no pruning', ['--repo', HTTPS, '--prune', 'false']],
    ['waiting', ['--repo', HTTPS, '--wait', 'true']],
    ['waiting longer', ['--repo', HTTPS, '--wait', 'true', '--timeout', '90m', '--interval', '3600s']],
    ['a deploy key', ['--repo', HTTPS, '--access', 'deploy-key']],
    ['a token', ['--repo', HTTPS, '--access', 'token']],
    ['a GitHub App', ['--repo', HTTPS, '--access', 'github-app']],
    ['no credentials', ['--repo', HTTPS, '--access', 'none']],
    ['decryption', ['--repo', HTTPS, '--decryption', 'sops', '--wait', 'true']],
    ['SSH', ['--repo', 'ssh://git@git.example.com:2222/acme/ops.git', '--access', 'deploy-key']],
    ['an artifact', ['--repo', 'oci://ghcr.io/acme/ops', '--tag', 'latest']],
    ['an artifact with a token', ['--repo', 'oci://ghcr.io/acme/ops', '--tag', 'latest', '--access', 'token']],
    ['an artifact by digest', ['--repo', 'oci://ghcr.io/acme/ops', '--digest', `sha256:${'0'.repeat(64)}`]],
  ])('%s', (_name, args) => {
    const request = parseOnboardArguments([...BASE, ...args])
    expect(tenantManifest(request) + syncManifest(request)).toBe(exported(request))
  })

  test('any of the options together', () => {
    const name = fc.constantFrom('aa', 'y1', 'null', 'off', 'yes', 'a-b', '12', '1e3', '0x1f', '007', 'true')
    const ref = fc.constantFrom<readonly string[]>(
      ...[
        [],
        ['--branch', 'on'],
        ['--branch', '0.10'],
        ['--tag', '1.0'],
        ['--tag', '2024-01-02'],
        ['--semver', '~1.2'],
      ],
      ...[
        ['--semver', '1.x'],
        ['--semver', '!=1.5'],
        ['--semver', '^2'],
        ['--commit', `1e${'0'.repeat(38)}`],
      ],
    )
    const option = (key: string, ...values: readonly string[]) =>
      fc.option(fc.constantFrom(...values), { nil: undefined }).map(value => (value === undefined ? [] : [key, value]))
    const args = fc.tuple(
      fc.uniqueArray(name, { minLength: 1, maxLength: 2 }).map(names => names.flatMap(one => ['--namespace', one])),
      fc.constantFrom(HTTPS, `${HTTPS}.git`, 'https://git.example.com/a/b').map(url => ['--repo', url]),
      ref,
      option('--role', 'tenant', 'admin', 'edit', 'cluster-admin'),
      option('--interval', '1s', '61s', '59m', '24h', '1h0m1s'),
      option('--prune', 'true', 'false'),
      option('--wait', 'true', 'false'),
      option('--timeout', '30s', '120m'),
      option('--service-account', 'flux', 'no', '1'),
      option('--access', 'deploy-key', 'token', 'github-app'),
    )
    fc.assert(
      fc.property(name, args, (tenant, parts) => {
        const request = parseOnboardArguments([tenant, '--cluster', 'staging', ...parts.flat()])
        expect(tenantManifest(request) + syncManifest(request)).toBe(exported(request))
      }),
      { seed: 3, numRuns: 40 },
    )
  })
})
