import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DECISION_KINDS } from '../../../src/verdict/trail-entry.ts'
import { commands } from '../../../workers/commands/registry.ts'

const root = join(import.meta.dirname, '../../..')
const workers = globSync('workers/**/*.ts', { cwd: root })
  .sort()
  .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))

test('commands that decide nothing are these, and no others', () => {
  const none = commands.filter(({ decision }) => decision === 'none').map(({ name }) => name)
  expect(none.sort()).toEqual(['check', 'diff', 'explain', 'help', 'status'])
})

/** Kinds of earlier releases, whose entries are still read. */
const FORMER: readonly string[] = ['move', 'rename', 'hand-over', 'completion', 'rotation']

test('every kind of a decision is recorded somewhere', () => {
  const all = [
    ...workers.map(({ text }) => text),
    ...globSync('src/verdict/*trail*.ts', { cwd: root, exclude: name => name.endsWith('trail-entry.ts') }).map(path =>
      readFileSync(join(root, path), 'utf8'),
    ),
  ].join('\n')
  const recorded = DECISION_KINDS.filter(kind =>
    new RegExp(`(?:kind|decision): '${kind}'|\\(here, '${kind}'`).test(all),
  )
  expect(recorded).toEqual(DECISION_KINDS.filter(kind => !FORMER.includes(kind)))
})

/**
 * Every exported function that writes to GitHub, and the only files of workers that may import it. A value that is a text says why
 * it decides nothing: words, marks, tokens, and what the App announces before it decides.
 */
const WRITES: Readonly<Record<string, readonly string[] | string>> = {
  'branches.ts commitFiles': ['workers/gate/record-decision.ts'],
  'branches.ts writeCommit': 'objects that are on no branch yet',
  'branches.ts writeTree': 'the same',
  // the trail itself
  'branches.ts appendFile': ['workers/jobs/write-trail.ts'],
  'deploy-keys.ts addDeployKey': ['workers/gate/record-decision.ts'],
  'deploy-keys.ts removeDeployKey': ['workers/gate/record-decision.ts'],
  'own-pulls.ts openPullRequest': ['workers/gate/record-decision.ts'],
  // by the command `gate`, which is recorded
  'protection.ts releaseBranches': ['workers/commands/fleet.ts'],
  'protection.ts setRuleset': ['workers/commands/fleet.ts'],
  // verdicts and applies record themselves before they are published; the others are the records of commands
  'checks.ts publishCheckRun': [
    'workers/apply/report-applied.ts',
    'workers/commands/approve.ts',
    'workers/commands/override.ts',
    'workers/commands/waive.ts',
    // `cancelled` on what was announced and never decided, too
    'workers/gate/publish-checks.ts',
    // the approval of what a recorded command or request opened
    'workers/gate/record-decision.ts',
    'workers/tenants/offboarding.ts',
  ],
  'checks.ts announceCheckRun': 'a check in progress',
  'checks.ts changeAnnouncement': 'the same',
  'checks.ts renameCheckRuns': 'the name of a verdict that does not count any more',
  'client/app.ts openApp': 'tokens',
  'client/open-app-key.ts redeliverAttempt': 'webhooks once more',
  'client/open-oauth.ts convertManifest': 'setup, before there is a fleet',
  'comments.ts react': 'reactions to commands',
  'comments.ts removeComment': 'words',
  'comments.ts upsertComment': 'words',
  'comments.ts writeReply': 'words',
  'comments.ts writeReview': 'suggestions',
  'issues.ts addLabel': 'the label of the commands hold and unhold, which are recorded',
  'issues.ts removeLabel': 'the same',
  'issues.ts upsertIssue': 'words; the sealed record in it is of the command designate, which is recorded',
}

const WRITING =
  /\.rest\.\w+\.(?:create|update|delete|add|remove|set|replace|request|redeliver)\w*\(|'(?:POST|PUT|PATCH|DELETE) /

/** `file function` of each exported function of src/github that writes, itself or by a function of its file. */
function writers(): string[] {
  return globSync('src/github/**/*.ts', { cwd: root }).flatMap(path => {
    const parts = readFileSync(join(root, path), 'utf8').split(
      /^(?=(?:export )?(?:async )?(?:function\*?|const|class) \w)/m,
    )
    const declared = parts.map(text => ({
      text,
      name: /(?:function\*?|const|class) (\w+)/.exec(text)?.[1] ?? '',
      isExported: text.startsWith('export '),
    }))
    const found = new Set(declared.filter(({ text }) => WRITING.test(text)).map(({ name }) => name))
    for (let size = -1; size !== found.size; ) {
      size = found.size
      for (const { text, name } of declared)
        if ([...found].some(other => new RegExp(`\\b${other}\\(`).test(text))) found.add(name)
    }
    const file = path.slice('src/github/'.length)
    return declared.flatMap(({ name, isExported }) => (isExported && found.has(name) ? [`${file} ${name}`] : []))
  })
}

test('everything that writes to GitHub is known to the trail', () => {
  expect(writers().sort()).toEqual(Object.keys(WRITES).sort())
})

test.each(
  Object.entries(WRITES).flatMap(([what, files]) => (typeof files === 'string' ? [] : [[what, files] as const])),
)('%s is used where it is recorded, and nowhere else', (what, files) => {
  const [file, name] = what.split(' ')
  const imported = new RegExp(`^import \\{[^}]*\\b${name}\\b[^}]*\\} from '[./]+/src/github/${file}'`, 'm')
  expect(workers.filter(({ text }) => imported.test(text)).map(({ path }) => path)).toEqual(files)
})
