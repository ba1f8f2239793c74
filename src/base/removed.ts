const TRANSFER =
  'Write the change by hand as a pull request, and run `bailiwick check --base main` on it. Where the check blocks it, a fleet admin agrees with `/bailiwick override REASON`.'

/** What this release no longer has, and what to do instead. Each answers with this one warning; the next release forgets it. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  [
    'commitStatuses of clusters.yaml',
    'Set `events` to the address of notification-controller, and write a Provider of type github there. Then remove the key.',
  ],
  ['-o mermaid', 'It is the only format.'],
  ['-o dot', 'The graph is printed for Mermaid.'],
  ['-o json-lines', 'The result is printed as text. Use `-o json` for programs.'],
  ['-o junit', 'The result is printed as text. Use `-o json` for programs.'],
  ['kyverno-test.yaml', 'It was not run. Run `kyverno test` with the command line of Kyverno.'],
  ...['move', 'rename', 'hand-over'].flatMap(name =>
    ['bailiwick', '/bailiwick'].map(program => [`${program} ${name}`, TRANSFER] as const),
  ),
  ['/bailiwick complete', 'Run `/bailiwick onboard`, or add the files by hand: the check says what is missing.'],
  ['--starter', 'Nothing is opened in the repository of the tenant. Its team adds the first files.'],
  [
    '/bailiwick rotate-key',
    'In a clone, run `sops updatekeys` and `sops rotate` on the file. Then replace the deploy key itself: the old data key still opens earlier commits.',
  ],
  ['rule proto-pollution', 'Review keys such as `__proto__` in pull requests.'],
  ['rule cel-cost', 'Look at the CPU time of the controllers: cost limits of Flux hold there.'],
  ['rule drift-ignore', 'Review `spec.ignore` and `spec.driftDetection.ignore` in pull requests.'],
  [
    'rule policy-tenant-controlled',
    "Review in pull requests by what policies select: labels of Namespaces are the platform's.",
  ],
  [
    'bailiwick validate',
    'Nothing was validated. Run `bailiwick check --only schemas`, and declare the version as `kubernetes` in .github/bailiwick.yaml.',
  ],
  ...['bailiwick', '/bailiwick'].map(
    program =>
      [
        `${program} credentials`,
        'Deploy keys: in the settings of each repository. Files: `sops updatekeys` shows other recipients. Plain text is the finding `plaintext-secret`.',
      ] as const,
  ),
  ['bailiwick sops updatekeys', 'Nothing was encrypted. Run `sops updatekeys` of SOPS on each file.'],
  ['bailiwick policy', 'Run `bailiwick check`: what a policy denies or could not be asked is a finding.'],
  ['bailiwick completion', 'Remove the line from the startup file of the shell.'],
  ...['--watch', 'bailiwick watch'].map(
    name =>
      [name, 'Run `watchexec -- bailiwick check --color never`, or `entr`, which run any command again.'] as const,
  ),
  ['bailiwick replay', 'Check out the commits that the entry lists, and run `bailiwick check --repos-dir DIR`.'],
])

/** The warning for a setting, command or rule that was removed; undefined for every other name. */
export function removedWarning(name: string): string | undefined {
  const instead = INSTEAD.get(name)
  return instead === undefined ? undefined : `${name}: removed. ${instead}`
}
