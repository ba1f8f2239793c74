import { visible } from '../../base/visible.ts'
import { whyIncomplete } from '../../fleet/model/fleet.ts'
import { credentialEntries, ENTRY_TITLES, updateKeysText } from '../../tenants/credential-entries.ts'
import { credentialReport } from '../../tenants/credential-report.ts'
import { type Command, today } from './command.ts'
import { clustersOf, FLEET, readFleet } from './read-fleet.ts'
import { errorLine, printLines, table } from './terminal.ts'
import { TEXT_OR_JSON } from './usage.ts'

/** `bailiwick credentials`: lists the credentials of tenants in git; only the App lists deploy keys. */
export const credentials: Command = {
  name: 'credentials',
  usage: [...FLEET, TEXT_OR_JSON],
  notes: 'Exit code 0: done; 2: a Kustomization could not be read, so the list may be incomplete.',
  async run(given, io) {
    const { fleet, tree, here } = await readFleet(given, io.cwd)
    clustersOf(fleet, undefined, given)
    const failed = fleet.nodes.filter(node => whyIncomplete(node))
    for (const node of failed) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    const entries = credentialEntries(credentialReport(fleet, tree, here), undefined, today())
    if (given.format === 'json') io.stdout(`${JSON.stringify({ entries }, null, 2)}\n`)
    else {
      const rows = entries.map(({ kind, subject, note, file, line }) => [
        ENTRY_TITLES[kind],
        visible(file === undefined ? subject : `${file}:${line} ${subject === file ? '' : subject}`.trim(), 300),
        visible(note, 500),
      ])
      const steps = updateKeysText(entries)
      const all = [...table(['WHAT', 'WHERE', 'NOTE'], rows, io.columns), ...(steps === undefined ? [] : ['', steps])]
      printLines(io, all)
    }
    return failed.length > 0 ? 2 : 0
  },
}
