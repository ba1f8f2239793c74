import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DECISION_KINDS } from '../../src/trail/trail-entry.ts'
import { commands } from '../../workers/commands/registry.ts'

const root = join(import.meta.dirname, '../..')
const workers = globSync('workers/**/*.ts', { cwd: root })
  .sort()
  .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))

test('commands that decide nothing are these, and no others', () => {
  const none = commands.filter(({ decision }) => decision === 'none').map(({ name }) => name)
  expect(none.sort()).toEqual(['check', 'credentials', 'diff', 'explain', 'help', 'status'])
})

/** Kinds of earlier releases, whose entries are still read. */
const FORMER: readonly string[] = ['move', 'rename', 'hand-over', 'completion', 'rotation']

test('every kind of a decision is recorded somewhere', () => {
  const all = [
    ...workers.map(({ text }) => text),
    ...globSync('src/trail/*.ts', { cwd: root, exclude: name => name.endsWith('trail-entry.ts') }).map(path =>
      readFileSync(join(root, path), 'utf8'),
    ),
  ].join('\n')
  const recorded = DECISION_KINDS.filter(kind =>
    new RegExp(`(?:kind|decision): '${kind}'|\\(here, '${kind}'`).test(all),
  )
  expect(recorded).toEqual(DECISION_KINDS.filter(kind => !FORMER.includes(kind)))
})

/**
 * Everything that writes to GitHub, and the only files that may import it. A value that is a text says why it decides nothing:
 * words, marks, tokens, and what the App announces before it decides.
 */
const WRITES: Readonly<Record<string, readonly string[] | string>> = {
  'pulls/open-pull-request.ts': ['workers/trail/recorded-writes.ts'],
  'pulls/commit-files.ts': ['workers/trail/recorded-writes.ts'],
  // the trail itself
  'pulls/append-file.ts': ['workers/trail/append-batch.ts'],
  // the deletion and addition; the list is read by others
  'keys/deploy-keys.ts': ['workers/trail/recorded-writes.ts'],
  // by the command `gate`, which is recorded
  'protection/rulesets.ts': ['workers/commands/gate.ts'],
  // verdicts and applies record themselves before they are published; the others are the records of commands
  'checks/check-run.ts': [
    'workers/apply/report-applied.ts',
    'workers/commands/approve-prune.ts',
    'workers/commands/approve.ts',
    'workers/commands/open-waiver-pull.ts',
    'workers/commands/override.ts',
    'workers/offboarding/open-offboarding.ts',
    // `cancelled` on what was announced and never decided
    'workers/publish/cancel-overtaken-runs.ts',
    'workers/publish/publish-verdict.ts',
  ],
  'checks/announce-check-run.ts': 'a check in progress',
  'checks/rename-check-runs.ts': 'the name of a verdict that does not count any more',
  'client/app.ts': 'tokens',
  'client/convert-manifest.ts': 'setup, before there is a fleet',
  'client/deliveries.ts': 'webhooks once more',
  'comments/comment.ts': 'words',
  'comments/reactions.ts': 'reactions to commands',
  'comments/review.ts': 'suggestions',
  'issues/labels.ts': 'the label of the commands hold and unhold, which are recorded',
  'issues/upsert-issue.ts': 'words; the sealed record in it is of the command designate, which is recorded',
}

const WRITING =
  /\.rest\.\w+\.(?:create|update|delete|add|remove|set|replace|request|redeliver)\w*\(|'(?:POST|PUT|PATCH|DELETE) /

test('everything that writes to GitHub is known to the trail', () => {
  const files = globSync('src/github/**/*.ts', { cwd: root }).filter(path =>
    WRITING.test(readFileSync(join(root, path), 'utf8')),
  )
  expect(files.map(path => path.slice('src/github/'.length)).sort()).toEqual(Object.keys(WRITES).sort())
})

const NAMES: Readonly<Record<string, RegExp>> = {
  'pulls/open-pull-request.ts': /\bopenPullRequest\b/,
  'keys/deploy-keys.ts': /\b(?:add|remove)DeployKey\b/,
  'protection/rulesets.ts': /\b(?:setRuleset|releaseBranches)\b/,
}

test.each(
  Object.entries(WRITES).flatMap(([file, files]) => (typeof files === 'string' ? [] : [[file, files] as const])),
)('%s is used where it is recorded, and nowhere else', (file, files) => {
  const imported = new RegExp(`^import \\{([^}]*)\\} from '[./]+/src/github/${file}'`, 'm')
  const users = workers.filter(({ text }) => {
    const names = imported.exec(text)?.[1]
    return names !== undefined && (NAMES[file] ?? /\w/).test(names)
  })
  expect(users.map(({ path }) => path)).toEqual(files)
})
