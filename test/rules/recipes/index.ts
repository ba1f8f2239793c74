import { openRecipes } from './evaluate-recipes.ts'
import { readRecipes } from './read-recipes.ts'

/** Prints the table as Markdown; ends with 1 where a row is answered otherwise. */
const HEAD = ['document', 'step', 'field', 'change', 'by', 'what', 'expected', 'twin']
const row = (cells: readonly string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
console.log([row(HEAD), row(HEAD.map(() => '---'))].join('\n'))

for (const book of readRecipes()) {
  const evaluate = openRecipes(book)
  for (const recipe of book.recipes) {
    const { document, step, field, kind, what, edits, finds, twin } = recipe
    const by = edits[0]!.in.startsWith('fleet/') ? 'platform' : 'tenant'
    console.log(row([document, step, field, kind, by, what, finds.join('<br>') || 'pass', twin]))
    const found = evaluate(recipe)
    if (found.join() === finds.join()) continue
    process.exitCode = 1
    console.error(`DIFFERENT ${document} | ${field} | ${kind}: ${what}\n  ${found.join('\n  ') || 'pass'}`)
  }
}
