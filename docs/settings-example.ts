const WIDTH = 118

const HEAD = [
  '# Settings. `npm run setup` writes the required ones into .env; copy from here what you want to change.',
  '# Written from the table in docs/settings.md by `npm run generate`.',
  '',
]

/** The text of .env.example: each row of the table of settings, commented out unless every start needs it. */
export function settingsExample(settings: string): string {
  const rows = [...settings.matchAll(/^\| `([A-Z_]+)` \| (.+?) \| ?(.*?) ?\|$/gm)]
  return [
    ...HEAD,
    ...rows.flatMap(([, name = '', meaning = '', byDefault = '']) => [...entry(name, meaning, byDefault), '']),
    '',
  ]
    .join('\n')
    .replace(/\n+$/, '\n')
}

function entry(name: string, meaning: string, byDefault: string): string[] {
  const isRequired = /^required(?:$|,| by the web process)/.test(byDefault)
  const note = byDefault === '' ? '' : byDefault.startsWith('required') ? ` (${byDefault})` : ` (default: ${byDefault})`
  const about = plain(`${meaning}${note}`)
  return [
    ...wrapped(meaning.startsWith('`') ? about : about.charAt(0).toUpperCase() + about.slice(1)),
    isRequired ? `${name}=` : `#${name}=`,
  ]
}

/** Without Markdown's links, code and emphasis. */
const plain = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')

function wrapped(text: string): string[] {
  const lines = ['#']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line.length + 1 + word.length > WIDTH) lines.push(`# ${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}
