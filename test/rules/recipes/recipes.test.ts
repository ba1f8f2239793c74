import { describe, expect, test } from 'vitest'
import { openRecipes } from './evaluate-recipes.ts'
import { readRecipes } from './read-recipes.ts'

describe.each(readRecipes())('$document', book => {
  const evaluate = openRecipes(book)

  test('its fleet has no finding that blocks', () => {
    expect(evaluate().filter(line => !line.startsWith('warning'))).toEqual([])
  })
  test.each(book.recipes)('$step, $field, $kind: $what', recipe => {
    expect(evaluate(recipe)).toEqual(recipe.finds)
  })
})
