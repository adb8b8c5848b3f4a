import { ActionIcon, Button, Checkbox, createTheme, type CSSVariablesResolver, Drawer, type MantineColorsTuple, Modal, Radio, virtualColor } from '@mantine/core';

/** Neutral on purpose: colour on these screens means a worker's status and nothing else. */
const steel: MantineColorsTuple = ['#f3f5f7', '#e3e9ef', '#c9d2da', '#abb7c3', '#8998a7', '#66737f', '#4a5763', '#33404c', '#1d2731', '#131a21'];
/** The same for dark surfaces, turned round: one shade number must do for every colour. */
const bone: MantineColorsTuple = ['#131a21', '#1d2731', '#33404c', '#4a5763', '#66737f', '#8998a7', '#abb7c3', '#c9d2da', '#f3f5f7', '#e3e9ef'];

/** Mantine's dark surfaces, in the hue of theme.css. */
const dark: MantineColorsTuple = ['#e3e9ef', '#c2ccd6', '#96a4b2', '#66737f', '#3d4b59', '#26313c', '#18212a', '#131a21', '#0c1116', '#070a0d'];

/** The title bar of a dialog is no banner of the page. */
const plainHeader = { header: { role: 'none' } };
const boldTitle = { title: { fontSize: 15, fontWeight: 650 } };

export const theme = createTheme({
  fontFamily: 'var(--sy-sans)',
  fontFamilyMonospace: 'var(--sy-mono)',
  headings: { fontFamily: 'var(--sy-sans)', fontWeight: '600' },
  // Virtual, so that the text on filled buttons is chosen for each scheme: the shade differs between them.
  colors: { steel, bone, ink: virtualColor({ name: 'ink', light: 'steel', dark: 'bone' }), dark },
  primaryColor: 'ink',
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'sm',
  fontSizes: { xs: '11.5px', sm: '13px', md: '14px', lg: '16px', xl: '19px' },
  cursorType: 'pointer',
  components: {
    Button: Button.extend({ defaultProps: { size: 'xs' } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
    Checkbox: Checkbox.extend({ defaultProps: { iconColor: 'var(--sy-panel)' } }),
    Radio: Radio.extend({ defaultProps: { iconColor: 'var(--sy-panel)' } }),
    // Above the drawer, from which dialogs open.
    Modal: Modal.extend({ defaultProps: { centered: true, zIndex: 300, transitionProps: { duration: 120, exitDuration: 0 }, overlayProps: { backgroundOpacity: 0.5 }, attributes: plainHeader }, styles: boldTitle }),
    Drawer: Drawer.extend({ defaultProps: { attributes: plainHeader }, styles: boldTitle }),
  },
});

/** Mantine's own surfaces follow the tokens of theme.css. */
export const cssVariables: CSSVariablesResolver = () => {
  const surfaces = {
    '--mantine-color-body': 'var(--sy-panel)',
    '--mantine-color-text': 'var(--sy-ink)',
    '--mantine-color-dimmed': 'var(--sy-dim)',
    '--mantine-color-default': 'var(--sy-panel)',
    '--mantine-color-default-hover': 'var(--sy-hover)',
    '--mantine-color-default-border': 'var(--sy-strong-line)',
    '--mantine-color-default-color': 'var(--sy-ink)',
    '--mantine-color-placeholder': 'var(--sy-dim)',
    '--mantine-color-error': 'var(--st-down)',
  };
  return { variables: {}, light: surfaces, dark: surfaces };
};
