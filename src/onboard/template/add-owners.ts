import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import type { TenantTemplate } from './read-template.ts'
import { type TemplateTenant, withNames } from './with-names.ts'

/** Where GitHub looks for it, the first one that is there. */
export const OWNER_FILES = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const

interface OwnersFile {
  readonly path: string
  readonly content: string
}

/** The CODEOWNERS of the fleet with the lines of a template behind its own; undefined where it has them. The last line that matches counts. */
export function addOwners(tree: Tree, template: TenantTemplate, tenant: TemplateTenant): OwnersFile | undefined {
  const lines = template.owners.split(/\r?\n/).filter(line => line.trim() !== '' && !line.trimStart().startsWith('#'))
  const filled = lines.flatMap(line =>
    tenant.namespaces.map(namespace => {
      const { text, missing } = withNames(line, tenant, namespace)
      if (missing === undefined) return text
      const file = `${template.folder}/CODEOWNERS`
      throw new BailiwickError('onboard-layout', `${file}: uses ${missing}, and the request names no team`, {
        fix: 'Add `--team ORGANIZATION/TEAM`.',
        origin: { repository: '', file, line: 1, column: 1 },
      })
    }),
  )
  const path = OWNER_FILES.find(place => tree.entry(place)) ?? OWNER_FILES[0]
  const text = tree.entry(path)?.type === 'file' ? new TextDecoder().decode(tree.read(path)) : ''
  const known = new Set(text.split(/\r?\n/).map(line => line.trim()))
  const wanted = [...new Set(filled)].filter(line => !known.has(line.trim()))
  if (wanted.length === 0) return undefined
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`
  return { path, content: `${start}${wanted.join('\n')}\n` }
}
