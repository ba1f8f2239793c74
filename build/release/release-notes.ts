/** The section of a version in CHANGELOG.md (https://keepachangelog.com), without its heading. Throws if there is none. */
export function releaseNotes(changelog: string, version: string): string {
  const [, ...sections] = changelog.split(/^## /m)
  const section = sections.find(text => /^\[?([^\]\s]+)\]?/.exec(text)?.[1] === version)
  if (section === undefined) throw new Error(`CHANGELOG.md: no section "## ${version}". Add it.`)
  const [, body = ''] = /^.*\n([\s\S]*)$/.exec(section) ?? []
  if (body.trim() === '') throw new Error(`CHANGELOG.md: the section "## ${version}" is empty. Say what changed.`)
  return `${body.trim()}\n`
}
