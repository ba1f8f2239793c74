import { errorGuide } from '../src/report/error-guide.ts'

/** docs/errors.md, made of the entries of src/report/error-guide.ts. */
export function errorList(): string {
  const entries = errorGuide
    .toSorted((a, b) => a.code.localeCompare(b.code, 'en'))
    .map(({ code, means, remedy }) => `## ${code}\n\n${means}\n\n**What to do:** ${remedy}\n`)
  return `${INTRODUCTION}\n${entries.join('\n')}`
}

const INTRODUCTION = `# Error codes

Bailiwick reports an error where it cannot evaluate or apply something. An error of a change blocks it, because nothing is known about the
part that was not evaluated. The code stands in brackets before the message: \`error[path-not-found]: ...\`. \`bailiwick explain CODE\` prints
the same text. Codes that are also rules, such as \`render-limits\`, are in [rules.md](rules.md).

<!-- written by npm run generate from src/report/error-guide.ts -->
`
