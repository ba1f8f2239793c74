import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { git, repository, run as runCommand, scratch, write } from './run-main.ts'
import {
  as,
  BAD,
  DEV,
  FLEET,
  fleetFiles,
  fleetOnBranch,
  GOOD,
  run,
  type Situation,
  tenantOnBranch,
  testAll,
  twoClusters,
  world,
} from './situation.ts'

const situations: Record<string, Situation> = {
  'the root is found from a folder inside': {
    given: () => join(fleetOnBranch(), 'clusters/prod'),
    args: ['--base', 'main'],
    code: 1,
    says: ['sa-required', `evaluated as branch main of ${FLEET} (--base main)`],
  },
  'and where such a folder is named, without --base': {
    given: () => world().fleet,
    args: ['clusters/prod/flux-system'],
    code: 0,
    says: [`evaluated as branch main of ${FLEET} (checked out)`],
  },
  'from inside of a tenant': {
    given: () => join(tenantOnBranch(), 'deploy'),
    args: ['--fleet', '../../fleet/clusters', '--base', 'main'],
    code: 1,
    says: ['namespace-confinement', as('main', '--base main')],
  },
  'a fleet that is a folder of another repository': {
    given: () => {
      const root = repository(scratch(), { 'README.md': '' }, 'https://github.com/acme/tools')
      write(join(root, 'fixtures/fleet'), fleetFiles())
      return join(root, 'fixtures/fleet')
    },
    args: ['--url', FLEET],
    code: 0,
    says: [`evaluated as branch main of ${FLEET} (a folder without git)`],
  },
  'a file instead of a folder': {
    given: () => world().fleet,
    args: ['clusters/prod/tenants.yaml'],
    code: 2,
    says: [/^error\[git-missing\]: \S+tenants\.yaml is a file\. Name the folder of the repository\.$/m],
  },
  'a folder that is not there': {
    given: () => world().fleet,
    args: ['nowhere'],
    code: 2,
    says: [/^error\[git-missing\]: \S+nowhere does not exist\. Name an existing folder\.$/m],
  },
  'a bare repository': {
    given: () => {
      const { root } = world()
      git(root, 'clone', '--quiet', '--bare', 'fleet', 'bare')
      return join(root, 'bare')
    },
    code: 2,
    says: ['is a bare repository', 'worktree add --detach'],
  },
  'clones beside it, found by their remotes': {
    given: () => {
      const { root, fleet, tenant } = world()
      write(tenant, BAD)
      git(root, 'init', '--quiet', 'other')
      return fleet
    },
    args: ['--repos-dir', '..'],
    code: 1,
    says: ['namespace-confinement', /^(?!.*not visible)/],
  },
  'a clone that stands on another branch gives the one that is followed': {
    given: () => {
      const tenant = tenantOnBranch()
      return join(tenant, '../fleet')
    },
    args: ['--repos-dir', '..'],
    code: 0,
    says: [`evaluated as branch main of ${FLEET} (checked out)`],
  },
  'a clone without the branch that is followed': {
    given: () => {
      const { fleet } = world({ tenantRef: 'branch: release' })
      return fleet
    },
    args: ['--repos-dir', '..'],
    code: 0,
    says: [/dev-team has no branch release: fetch it/, 'its source is not visible'],
  },
  'fleet and tenant on two branches of one address, each in a clone': {
    given: () => {
      const root = scratch()
      const files = Object.entries(fleetFiles('branch: main', 'branch: dev-team'))
      const ours = Object.fromEntries(files.map(([path, text]) => [path, text.replace(DEV, FLEET)]))
      git(repository(join(root, 'dev-team'), BAD, `${FLEET}.git`), 'branch', '--quiet', '-m', 'dev-team')
      return repository(join(root, 'fleet'), ours, `${FLEET}.git`)
    },
    args: ['--repos-dir', '..'],
    code: 1,
    says: ['violation[namespace-confinement]: ConfigMap flux-system/config'],
  },
  'two clones of one address': {
    given: () => {
      const { root, fleet } = world()
      repository(join(root, 'again'), GOOD, `${DEV}.git`)
      return fleet
    },
    args: ['--repos-dir', '..'],
    code: 2,
    says: [/^error\[usage\]: \S+again and \S+dev-team are both clones of /m, `Choose one: --repo ${DEV}=`],
  },
  'of two clones of one address the folder that is checked': {
    given: () => {
      const { root, fleet } = world()
      const other = Object.values(fleetFiles('branch: other'))[0]!
      write(fleet, {
        'clusters/prod/other.yaml': other
          .replaceAll('name: flux-system', 'name: other')
          .replace('./clusters/prod', './deploy'),
      })
      write(fleet, BAD)
      git(fleet, 'add', '.')
      git(fleet, 'commit', '--quiet', '-m', 'other')
      git(fleet, 'branch', 'other')
      git(fleet, 'rm', '--quiet', '-r', 'deploy')
      git(fleet, 'commit', '--quiet', '-m', 'main')
      repository(join(root, 'again'), GOOD, `${FLEET}.git`)
      return fleet
    },
    args: ['--repos-dir', '..'],
    code: 0,
    says: ['3 Kustomizations, 11 objects'],
  },
  'a folder without clones': {
    given: () => world().fleet,
    args: ['--repos-dir', 'clusters'],
    code: 2,
    says: ['contains no clone'],
  },
  'one cluster of two': {
    given: () => twoClusters(),
    args: ['--cluster', 'prod'],
    code: 0,
    says: [/^Passed\. Only cluster prod\b.*Evaluated: \d+ Kustomizations?, \d+ objects, 1 cluster\b/m],
  },
  'and the one that is bad': {
    given: () => twoClusters(),
    args: ['--cluster', 'prod', '--cluster', 'staging'],
    code: 1,
    says: ['sa-required', 'Only clusters prod, staging'],
  },
  'a cluster that there is not': {
    given: () => twoClusters(),
    args: ['--cluster', 'prot'],
    code: 2,
    says: ['error[usage]: no cluster "prot"; there are: prod, staging. Did you mean prod?'],
  },
  'a tenant that there is not': {
    given: () => twoClusters(),
    args: ['--tenant', 'x'],
    code: 2,
    says: ['error[usage]: no tenant "x"; there are: dev-team'],
  },
  'one tenant': {
    given: () => twoClusters(),
    args: ['--tenant', 'dev-team'],
    code: 1,
    says: ['sa-required', 'Only tenant dev-team'],
  },
  'a filter hides no error of the platform': {
    given: () => {
      const fleet = twoClusters()
      write(fleet, { 'clusters/staging/broken.yaml': 'a: [\n' })
      return fleet
    },
    args: ['--tenant', 'dev-team'],
    code: 2,
    says: ['yaml-syntax', 'Only tenant dev-team'],
  },
  'nor is what it leaves out an error': {
    given: () => {
      const fleet = twoClusters()
      write(fleet, { 'clusters/staging/broken.yaml': 'a: [\n' })
      return fleet
    },
    args: ['--cluster', 'prod'],
    code: 0,
    says: ['Only cluster prod'],
  },
  'an option that is misspelled': {
    given: () => '/',
    args: ['--braanch', 'x'],
    code: 2,
    says: ['Did you mean --branch?'],
  },
}

describe('where a command line stands', () => {
  testAll(situations)

  test('another owner of the working copy is a sentence, not "a plain folder"', async () => {
    const { root, fleet } = world()
    const fake = write(join(root, 'bin'), {
      git: `#!/bin/sh\necho "fatal: detected dubious ownership in repository at '${fleet}'" >&2\nexit 128\n`,
    })
    chmodSync(join(fake, 'git'), 0o755)
    vi.stubEnv('PATH', `${fake}:${process.env.PATH}`)
    for (const args of [[], ['--base', 'main'], ['clusters']]) {
      expect(await run(fleet, args)).toEqual({
        code: 2,
        stdout: '',
        stderr: `error[source-unreadable]: ${fleet}: owned by another user, so git does not read it. Run: git config --global --add safe.directory ${fleet}\n`,
      })
    }
    vi.unstubAllEnvs()
  })

  test('without git on the PATH', async () => {
    const { root, fleet } = world()
    vi.stubEnv('PATH', root)
    expect((await run(fleet, [])).stderr).toMatch(/^error\[git-missing\]: git: cannot be started \(.*\)\. Install git/)
    expect(await run(write(join(root, 'plain'), fleetFiles()), [])).toMatchObject({ code: 0 })
    vi.unstubAllEnvs()
  })
})

test('no command that reads a fleet ends with 0 where there is none', async () => {
  const dir = scratch()
  for (const argv of [
    ...['check', 'fix', 'baseline', 'audit', 'graph'].map(name => [name]),
    ...[
      ['access', 'apps'],
      ['can-i', 'get', 'pods', '-n', 'apps', '--as', 'a'],
    ],
    ...[
      ['who-can', 'get', 'pods', '-n', 'apps'],
      ['build', '--cluster', 'a'],
      ['worker-rbac', '--cluster', 'a'],
    ],
    ...[
      ['lockdown', '--cluster', 'a'],
      ['adopt', 'a'],
      ['offboard', 'a'],
    ],
  ]) {
    const { code, stdout, stderr } = await runCommand(dir, ...argv)
    expect([argv, code, `${stdout}${stderr}`]).toEqual([argv, 2, expect.stringMatching(/error(?:\[[a-z-]+\])?: /)])
  }
})
