import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BRANCH_CHECK_NAME, CHECK_NAME, checkNameOf, isTenancyCheck } from '../../../src/verdict/check-names.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { command, lastRun, proposed } from './commands.ts'
import { DEV, withResource } from './red-together.ts'
import { followOnProduction } from './two-bases.ts'

/** Red where staging deploys from, without a word about production. */
const ESCAPE = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
  'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
}
const HARMLESS = { 'NOTES.md': '# Notes\n' }
const STABLE = checkNameOf('stable')

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  branchOff('wild2')
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

const installation = () => [...stage.github.world.installations.keys()][0]!

function branchOff(branch: string, repo = DEV, from = 'main'): string {
  stage.github.pushRef({ repo, branch, sha: stage.github.commitOf(repo, from), as: 'ada' })
  return branch
}

/** A pull request of dev-team; its number. */
const propose = (head: string, base: string, files: Readonly<Record<string, string>>) =>
  proposed(stage, { repo: DEV, branch: head, base, files, as: 'dora' })

/** The checks that a pull request of a commit is merged by: the latest run of each name. */
function checksOn(ref: string, repo = DEV): Record<string, string | null> {
  const runs = stage.github.checkRunsOf(repo, ref).filter(({ name }) => isTenancyCheck(name))
  return Object.fromEntries(runs.map(({ name, conclusion }) => [name, conclusion]))
}

/** Where production deploys from, red; staging does not read it. */
const ESCAPE_ON_STABLE = {
  'production/kustomization.yaml': withResource('production/kustomization.yaml', 'stray.yaml'),
  'production/stray.yaml': deploymentFile('stray', 'kube-system'),
}

const mergeNow = (pull: number) => stage.github.merge({ repo: DEV, pull, as: 'dora' }).status

/** Has GitHub's rules for some branches require checks of ours. */
function requireOn(branches: readonly string[], names: readonly string[], name = branches.join()): void {
  const checks = names.map(context => ({ context, integration_id: stage.github.app.id }))
  const parameters = { required_status_checks: checks, strict_required_status_checks_policy: false }
  stage.github.setRuleset(DEV, {
    ...{ name, rules: [{ type: 'required_status_checks', parameters }] },
    conditions: { ref_name: { include: branches.map(branch => `refs/heads/${branch}`), exclude: [] } },
  })
}

describe('one gated base', () => {
  test('a pull request onto it has the plain name, the tip of the branch another one', async () => {
    await propose('plain', 'main', HARMLESS)
    expect(checksOn('plain')).toEqual({ [CHECK_NAME]: 'success' })
    expect(checksOn('main')).toEqual({})
    expect(lastRun(stage.github, DEV, 'main', BRANCH_CHECK_NAME)).toMatchObject({ conclusion: 'success' })
  })

  test('one onto a branch that nobody follows has none, and led onto main it is not merged before the verdict', async () => {
    const pull = await propose('sneak', branchOff('scratch'), ESCAPE)
    expect(checksOn('sneak')).toEqual({})
    stage.github.editPullRequest({ repo: DEV, pull, base: 'main', as: 'dora' })
    expect(mergeNow(pull)).toBe(405)
    await stage.settle()
    expect(checksOn('sneak')).toEqual({ [CHECK_NAME]: 'failure' })
    stage.github.editPullRequest({ repo: DEV, pull, base: 'scratch', as: 'dora' })
    await stage.settle()
    expect(checksOn('sneak'), 'what is not asked for any more does not stay').toEqual({})
  })

  test('one that is closed and opened again waits for a verdict about its base as it is then', async () => {
    const pull = await propose('again', 'main', HARMLESS)
    expect(checksOn('again')).toEqual({ [CHECK_NAME]: 'success' })
    stage.github.closePullRequest({ repo: DEV, pull, as: 'dora' })
    await stage.settle()
    stage.github.reopenPullRequest({ repo: DEV, pull, as: 'dora' })
    expect(mergeNow(pull)).toBe(405)
    await stage.settle()
    expect(checksOn('again')).toEqual({ [CHECK_NAME]: 'success' })
    expect(mergeNow(pull)).toBe(200)
    await stage.settle()
  })

  test('a branch of which the rules cannot be read counts as gated, and as one that may require the plain name', async () => {
    branchOff('shy')
    stage.github.failNext(20, 403, {}, ({ path }) => path.includes('/rules/branches/shy'))
    await propose('hidden', 'shy', HARMLESS)
    expect(checksOn('hidden')).toEqual({ [checkNameOf('shy')]: 'success', [CHECK_NAME]: 'failure' })
  })
})

describe('what an older version left', () => {
  test('a verdict on the tip of a branch, or for a base without a check, keeps no name that a rule requires', async () => {
    const { github } = stage
    const old = (ref: string, kind: string) =>
      Object.assign(
        lastRun(github, DEV, ref, BRANCH_CHECK_NAME) ?? lastRun(github, DEV, ref, 'bailiwick / superseded')!,
        {
          ...{ name: CHECK_NAME, status: 'completed', conclusion: 'success' },
          externalId: `0:${kind}-abc.${'a'.repeat(24)}.${'b'.repeat(24)}`,
        },
      )
    old('main', 'branch')
    old('sneak', 'pull')
    await stage.site.queue.add('sweep-installation', { installation: installation() })
    await stage.settle()
    expect(checksOn('main')).toEqual({})
    expect(lastRun(github, DEV, 'main', BRANCH_CHECK_NAME)).toMatchObject({ conclusion: 'success' })
    expect(checksOn('sneak')).toEqual({})
    const kept = github.checkRunsOf(DEV, 'sneak').map(({ conclusion }) => conclusion)
    expect(kept, 'neutral and skipped would satisfy the rule').not.toContain('neutral')
  })
})

describe('a branch that begins to be followed', () => {
  test('what passed on its open heads counts no more before they are evaluated', async () => {
    const { github } = stage
    branchOff('stable')
    requireOn(['stable'], [STABLE], 'stable')
    await stage.settle()
    const pull = await propose('early', 'stable', ESCAPE_ON_STABLE)
    expect(checksOn('early'), 'only main is followed').toEqual({ [STABLE]: 'success' })
    let seen: Record<string, string | null> | undefined
    github.failNext(1, 500, {}, ({ path }) => {
      // the first thing that an evaluation asks for
      if (path === `/repos/${DEV}/pulls/${pull}`) seen ??= checksOn('early')
      return false
    })
    await followOnProduction(stage, 'stable')
    expect(seen).toEqual({})
    expect(checksOn('early')).toEqual({ [STABLE]: 'failure' })
    expect(mergeNow(pull)).toBe(405)
  }, 60_000)
})

describe('several gated bases', () => {
  test('each has a check of its own, whose verdict does not travel', async () => {
    const pull = await propose('traveler', 'stable', ESCAPE)
    expect(checksOn('traveler')).toEqual({ [STABLE]: 'success' })
    stage.github.editPullRequest({ repo: DEV, pull, base: 'main', as: 'dora' })
    expect(mergeNow(pull)).toBe(405)
    await stage.settle()
    expect(checksOn('traveler')).toEqual({ [CHECK_NAME]: 'failure' })
    stage.github.editPullRequest({ repo: DEV, pull, base: 'stable', as: 'dora' })
    expect(mergeNow(pull)).toBe(405)
  })

  test('each leads to a page of its own', async () => {
    const { github } = stage
    await propose('two-pages', 'stable', { ...ESCAPE, 'PAGES.md': '# Two\n' })
    github.openPullRequest({ repo: DEV, head: 'two-pages', base: 'main', as: 'dora' })
    await stage.settle()
    const pageOf = async (name: string) => {
      const response = await fetch(lastRun(github, DEV, 'two-pages', name)?.detailsUrl ?? '')
      return response.text()
    }
    const [own, plain] = [await pageOf(STABLE), await pageOf(CHECK_NAME)]
    expect(own).toContain(`<dd>${STABLE}</dd>`)
    expect(own).toContain('It does not block the merge')
    expect(plain).toContain(`<dd>${CHECK_NAME}</dd>`)
    expect(plain).toContain('It blocks the merge')
  })

  test('a promotion is not merged by what was said about the tip of the other branch', async () => {
    const { github } = stage
    github.push({ repo: DEV, files: HARMLESS, as: 'ada' })
    await stage.settle()
    const { number } = github.openPullRequest({ repo: DEV, head: 'main', base: 'stable', as: 'ada' }).issue
    expect(github.merge({ repo: DEV, pull: number, as: 'ada' }).status).toBe(405)
    await stage.settle()
    expect(lastRun(github, DEV, 'main', STABLE)).toMatchObject({ status: 'completed' })
    const tip = lastRun(github, DEV, 'main', BRANCH_CHECK_NAME)
    expect(tip?.detailsUrl).toMatch(/\/checks\/acme\/dev-team\//)
    expect(tip?.detailsUrl).not.toBe(lastRun(github, DEV, 'main', STABLE)?.detailsUrl)
    github.closePullRequest({ repo: DEV, pull: number, as: 'ada' })
    await stage.settle()
  })

  test('a commit of the branch that is promoted is not merged by what was said for a pull request onto it', async () => {
    const { github } = stage
    await propose('once', 'main', { ...ESCAPE_ON_STABLE, 'ONCE.md': '# Once\n' })
    expect(checksOn('once')).toEqual({ [CHECK_NAME]: 'success' })
    const { number } = github.openPullRequest({ repo: DEV, head: 'once', base: 'stable', as: 'dora' }).issue
    expect(mergeNow(number)).toBe(405)
    await stage.settle()
    expect(checksOn('once')).toEqual({ [CHECK_NAME]: 'success', [STABLE]: 'failure' })
    expect(mergeNow(number)).toBe(405)
  })
})

describe('rules that require the name of another branch', () => {
  let both: number

  test('every name that the rules of a base require is there, and one of a followed branch fails', async () => {
    branchOff('odd')
    requireOn(['odd'], [STABLE, CHECK_NAME], 'odd')
    await stage.settle()
    await propose('onto-odd', 'odd', HARMLESS)
    const own = checkNameOf('odd')
    expect(checksOn('onto-odd')).toEqual({ [own]: 'success', [CHECK_NAME]: 'failure', [STABLE]: 'failure' })
    const { title, summary } = lastRun(stage.github, DEV, 'onto-odd')!.output
    expect(title).toBe('Could not be evaluated: Several branches share one check')
    expect(summary).toContain('the rules of `main`, `odd` accept `bailiwick / tenancy`')
    expect(summary).toContain('/bailiwick gate')
  })

  test('what passed for one of two followed branches counts no more once the rules of the other accept it', async () => {
    const { github } = stage
    await propose('both', 'main', { ...ESCAPE_ON_STABLE, 'BOTH.md': '# Both\n' })
    expect(checksOn('both')).toEqual({ [CHECK_NAME]: 'success' })
    requireOn(['stable'], [CHECK_NAME], 'stable')
    await stage.settle()
    expect(checksOn('both')).toEqual({ [CHECK_NAME]: 'failure' })
    both = github.openPullRequest({ repo: DEV, head: 'both', base: 'stable', as: 'dora' }).issue.number
    expect(mergeNow(both)).toBe(405)
    await stage.settle()
    expect(checksOn('both')).toEqual({ [CHECK_NAME]: 'failure', [STABLE]: 'failure' })
  })

  test('neither an override nor the sweep makes it pass', async () => {
    const { github } = stage
    const sha = github.commitOf(DEV, 'both').slice(0, 12)
    await command(stage, { repo: DEV, issue: both, as: 'ada', body: `/bailiwick override ${sha} production is down` })
    expect(checksOn('both')).toEqual({ [CHECK_NAME]: 'failure', [STABLE]: 'success' })
    const before = github.checkRunsOf(DEV, 'both').length
    await stage.site.queue.add('sweep-installation', { installation: installation() })
    await stage.settle()
    expect(github.checkRunsOf(DEV, 'both')).toHaveLength(before)
  })

  test('with the rules corrected, each branch has its own verdict again', async () => {
    requireOn(['stable'], [STABLE], 'stable')
    await stage.settle()
    expect(checksOn('both')).toEqual({ [CHECK_NAME]: 'success', [STABLE]: 'success' })
  })
})

describe('another default branch', () => {
  const { assign } = Object
  const makeDefault = (branch: string) => assign(stage.github.repositoryNamed(DEV), { defaultBranch: branch })

  test('the plain name passes nothing that was evaluated for the one before', async () => {
    const { github } = stage
    await propose('swap', 'main', { ...ESCAPE_ON_STABLE, 'SWAP.md': '# Swap\n' })
    expect(checksOn('swap')).toEqual({ [CHECK_NAME]: 'success' })
    makeDefault('stable')
    requireOn(['stable'], [CHECK_NAME], 'stable')
    const changes = { default_branch: { from: 'main' } }
    github.world.emit(github.repositoryNamed(DEV), github.userNamed('ada'), 'repository', { action: 'edited', changes })
    await stage.settle()
    const MAIN = checkNameOf('main')
    // the rules of main require the plain name still
    expect(checksOn('swap')).toEqual({ [MAIN]: 'success', [CHECK_NAME]: 'failure' })
    const pull = github.openPullRequest({ repo: DEV, head: 'swap', base: 'stable', as: 'dora' }).issue.number
    expect(mergeNow(pull)).toBe(405)
    await stage.settle()
    expect(checksOn('swap')).toEqual({ [MAIN]: 'success', [CHECK_NAME]: 'failure' })
  })

  test('a verdict that is under way when it changes is not published', async () => {
    const { github } = stage
    const protectMain = async (context: string) => {
      github.setProtection(DEV, { branch: 'main', checks: [{ context, appId: github.app.id }] })
      await stage.settle()
    }
    await protectMain(checkNameOf('main'))
    await propose('calm', 'stable', { 'CALM.md': '# Calm\n' })
    expect(checksOn('calm')).toEqual({ [CHECK_NAME]: 'success' })
    let changed = false
    github.failNext(1, 500, {}, ({ path }) => {
      if (!changed && path.includes(`/repos/${DEV}/git/`)) {
        changed = true
        makeDefault('main')
      }
      return false
    })
    await propose('racing', 'stable', { 'RACING.md': '# Racing\n' })
    expect(changed).toBe(true)
    expect(Object.values(checksOn('racing'))).not.toContain('success')
    requireOn(['stable'], [STABLE], 'stable')
    await protectMain(CHECK_NAME)
  })
})

describe('rules of the whole organization', () => {
  test('a repository that no fleet follows passes where the check is required, and has none where it is not', async () => {
    const { github } = stage
    github.addRepository({ owner: 'acme', name: 'website', files: { 'index.html': '<p>\n' }, roles: { ada: 'admin' } })
    const open = async (head: string) => {
      github.push({
        repo: 'acme/website',
        branch: head,
        parent: github.commitOf('acme/website', 'main'),
        files: { [head]: head },
        as: 'ada',
      })
      const { number } = github.openPullRequest({ repo: 'acme/website', head, as: 'ada' }).issue
      await stage.settle()
      return number
    }
    await open('before')
    expect(checksOn('before', 'acme/website')).toEqual({})
    const checks = [{ context: CHECK_NAME, integration_id: github.app.id }]
    github.setOrganizationRuleset('acme', {
      name: 'everywhere',
      rules: [
        {
          type: 'required_status_checks',
          parameters: { required_status_checks: checks, strict_required_status_checks_policy: false },
        },
      ],
      conditions: {
        ref_name: { include: ['~ALL'], exclude: ['refs/heads/onto-*', 'refs/heads/after', 'refs/heads/wild'] },
        repository_name: { include: ['~ALL'], exclude: [] },
      },
    })
    await stage.settle()
    expect(checksOn('before', 'acme/website'), 'what waits is not left to hang').toEqual({ [CHECK_NAME]: 'success' })
    const pull = await open('after')
    expect(checksOn('after', 'acme/website')).toEqual({ [CHECK_NAME]: 'success' })
    expect(github.merge({ repo: 'acme/website', pull, as: 'ada' }).status).toBe(200)
  })

  test('a green verdict for one of all these branches is not one for main', async () => {
    const pull = await propose('wild', 'wild2', {
      'staging/kustomization.yaml': ESCAPE['staging/kustomization.yaml'],
      'staging/stray.yaml': deploymentFile('wild', 'kube-system'),
    })
    expect(checksOn('wild')[checkNameOf('wild2')]).toBe('success')
    stage.github.editPullRequest({ repo: DEV, pull, base: 'main', as: 'dora' })
    expect(mergeNow(pull)).not.toBe(200)
  })
})

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.unknown).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
